// Products of matrices for one run: the left operand (weights) is read where it lies, the right one is packed in
// panels of 64 columns as they are needed. Results do not depend on the number of threads.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/thread_pool.hpp"
#include "fast/isa/table.hpp"

namespace ovir::fast {

/// The threads that all kernels of the fast tier share.
ThreadPool& pool();

/// c = a · b for a[m][k] with rows `lda` apart and b[k][n]. `fill(k0, count, column, panel)` packs 64 columns of
/// `count` rows of b, beyond n with anything finite; `store(row, rows, column, columns, tile)` takes a finished tile
/// whose rows are 64 apart. Both are called from several threads.
template <class Fill, class Store>
void product(const float* a, std::int64_t lda, std::int64_t m, std::int64_t n, std::int64_t k, Fill fill, Store store) {
  constexpr std::int64_t kDeep = 384;  // a panel of 96 KiB stays in the second-level cache
  const auto& table = isa();
  const auto columns = (n + kPanel - 1) / kPanel;
  // Few columns: the rows are shared out too, so that every thread has work.
  const auto wanted = std::int64_t{4} * pool().threads();
  const auto groups = std::clamp<std::int64_t>((wanted + columns - 1) / columns, 1, (m + 23) / 24);
  const auto group = ((m + groups - 1) / groups + table.rows - 1) / table.rows * table.rows;
  pool().run(columns * groups, [&](std::int64_t chunk) {
    const auto column = chunk / groups * kPanel;
    const auto begin = chunk % groups * group, end = std::min(m, begin + group);
    if (begin >= end) return;
    std::vector<float> panel(static_cast<std::size_t>(std::min(k, kDeep) * kPanel)),
        tile(static_cast<std::size_t>((end - begin) * kPanel));
    for (std::int64_t k0 = 0; k0 < k; k0 += kDeep) {
      const auto count = std::min(kDeep, k - k0);
      fill(k0, count, column, panel.data());
      for (auto row = begin; row < end; row += table.rows)
        table.tile(a + row * lda + k0, lda, panel.data(), count, tile.data() + (row - begin) * kPanel,
                   static_cast<int>(std::min<std::int64_t>(table.rows, end - row)), k0 == 0);
    }
    store(begin, end - begin, column, std::min(kPanel, n - column), tile.data());
  });
}

}  // namespace ovir::fast
