#include "fast/kernels/product/dots.hpp"

#include <algorithm>

#include "fast/kernels/chunks.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kRows = 8, kAside = 64;  // whose sums are kept aside until the epilogue has read the residual
constexpr i64 kShort = 512;            // rows of which several are multiplied at a time
constexpr i64 kCached = 4 << 10;       // floats that stay in the first-level cache
constexpr i64 kFar = 256 << 10;        // floats that do not stay in the cache

/// dots(row, column, count, to): of a row of a and some rows of b.
template <class Dots>
void columns_by(const Dots& dots, float* c, i64 m, i64 n, i64 k, i64 begin, i64 end, const Epilogue& epilogue) {
  const auto together =
      std::clamp<i64>(kCached / std::max<i64>(k, 1), 1, 16);  // rows of b that all rows of a are multiplied by
  const auto& table = isa();
  alignas(64) float sums[kRows * kAside];
  for (auto column = begin; column < end; column += kAside) {
    const auto columns = std::min(kAside, end - column);
    for (i64 row = 0; row < m; row += kRows) {
      const auto count = std::min(kRows, m - row);
      for (i64 j = 0; j < columns; j += together)
        for (i64 i = 0; i < count; ++i)
          dots(row + i, column + j, std::min(together, columns - j), sums + i * kAside + j);
      for (i64 i = 0; i < count; ++i) {
        const auto at = (row + i) * n + column;
        float* const sum = sums + i * kAside;
        finish_row(table, epilogue, column, 1, sum, epilogue.residual ? epilogue.residual + at : nullptr, sum, columns);
        std::copy_n(sum, columns, c + at);
      }
    }
  }
}

/// The same by dot(row, column), one by one.
template <class Dot>
void columns_by_dot(const Dot& dot, float* c, i64 m, i64 n, i64 k, i64 begin, i64 end, const Epilogue& epilogue) {
  const auto dots = [&](i64 row, i64 column, i64 count, float* to) {
    for (i64 j = 0; j < count; ++j) to[j] = dot(row, column + j);
  };
  columns_by(dots, c, m, n, k, begin, end, epilogue);
}

}  // namespace

void columns_of_dots(const float* a, const float* rows, float* c, i64 m, i64 n, i64 k, i64 begin, i64 end,
                     const Epilogue& epilogue, bool far) {
  const auto& table = isa();
  const auto at = [&](i64 column) { return rows + (column - begin) * k; };
  if (k <= kShort && !far) {
    const auto dots = [&](i64 row, i64 column, i64 count, float* to) {
      table.dots(a + row * k, at(column), k, count, k, to);
    };
    return columns_by(dots, c, m, n, k, begin, end, epilogue);
  }
  const auto dot = [&](i64 row, i64 column) {
    const auto sum = far && row == 0 ? table.dot_ahead : table.dot;
    return sum(a + row * k, at(column), k);
  };
  columns_by_dot(dot, c, m, n, k, begin, end, epilogue);
}

void product_of_dots(const float* a, const NarrowWeights& b, float* c, i64 m, i64 n, i64 k, const Epilogue& epilogue,
                     ThreadPool& pool) {
  const auto sum = b.type == ElementType::f16 ? isa().dot_f16 : isa().dot_bf16;
  const auto* const rows = reinterpret_cast<const std::uint16_t*>(b.data);
  const auto dot = [&](i64 row, i64 column) { return sum(a + row * k, rows + column * k, k); };
  parallel_ranges(pool, n, 10 + static_cast<double>(m * k) / 16,
                  [&](i64 begin, i64 end) { columns_by_dot(dot, c, m, n, k, begin, end, epilogue); });
}

void product_of_dots(const float* a, const float* b, float* c, i64 m, i64 n, i64 k, const Epilogue& epilogue,
                     ThreadPool& pool) {
  parallel_ranges(pool, n, 10 + static_cast<double>(m * k) / 8, [&](i64 begin, i64 end) {
    columns_of_dots(a, b + begin * k, c, m, n, k, begin, end, epilogue, n * k > kFar);
  });
}

void product_and_copy(const float* a, const Weights& b, float* copy, float* c, i64 m, i64 n, i64 k,
                      const Epilogue& epilogue, ThreadPool& pool) {
  parallel_ranges(pool, n, 10 + static_cast<double>((m + 2) * k) / 8, [&](i64 begin, i64 end) {
    auto* const to = copy + begin * k;
    const auto* const from = b.get(begin * k, (end - begin) * k, to);
    if (from != to) std::copy_n(from, (end - begin) * k, to);
    columns_of_dots(a, to, c, m, n, k, begin, end, epilogue);
  });
}

}  // namespace ovir::fast
