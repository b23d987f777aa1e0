// Products of matrices for one run: the left operand (weights) is read where it lies, the right one is packed in
// panels of 64 columns as they are needed. Results do not depend on the number of threads.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "fast/isa/table.hpp"
#include "plan/runtime.hpp"

namespace ovir::fast {

/// c = a · b for a[m][k] with rows `lda` apart and b[k][n]. `fill(k0, count, column, panel)` packs 64 columns of
/// `count` rows of b, beyond n with anything finite; `store(row, rows, column, columns, tile)` takes a finished tile
/// whose rows are 64 apart. Both are called from several threads.
template <class Fill, class Store>
void product(const float* a, i64 lda, i64 m, i64 n, i64 k, Fill fill, Store store, Runtime& runtime) {
  constexpr i64 kDeep = 384;  // a panel of 96 KiB stays in the second-level cache
  const auto& table = isa();
  const auto columns = (n + kPanel - 1) / kPanel;
  // Few columns: the rows are shared out too, so that every thread has work.
  // As if for four threads, however many there are: results must not depend on it.
  constexpr i64 wanted = 16;
  const auto groups = std::clamp<i64>((wanted + columns - 1) / columns, 1, (m + 23) / 24);
  const auto group = ((m + groups - 1) / groups + table.rows - 1) / table.rows * table.rows;
  runtime.parallel(columns * groups, [&](i64 chunk) {
    const auto column = chunk / groups * kPanel;
    const auto begin = chunk % groups * group, end = std::min(m, begin + group);
    if (begin >= end) return;
    std::vector<float> panel(std::min(k, kDeep) * kPanel), tile((end - begin) * kPanel);
    for (i64 k0 = 0; k0 < k; k0 += kDeep) {
      const auto count = std::min(kDeep, k - k0);
      fill(k0, count, column, panel.data());
      for (auto row = begin; row < end; row += table.rows)
        table.tile(a + row * lda + k0, lda, panel.data(), count, tile.data() + (row - begin) * kPanel,
                   static_cast<int>(std::min<i64>(table.rows, end - row)), k0 == 0);
    }
    store(begin, end - begin, column, std::min(kPanel, n - column), tile.data());
  });
}

}  // namespace ovir::fast
