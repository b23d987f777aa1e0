#include "fast/kernels/reduction/reduce.hpp"

#include <cmath>
#include <limits>

#include "fast/kernels/chunks.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kPart = 512;  // values summed in one go
constexpr i64 kRun = 64;    // neighbors of an inner axis done together

/// The norm of x[0], x[step], … whose sum of squares was `sum`: taken again where f32 cannot hold the squares.
float norm(float sum, const float* x, i64 n, i64 step) {
  constexpr float kLeast = 1e-30f, kMost = 1e38f;
  if (sum > kLeast && sum < kMost) return std::sqrt(sum);
  double total = 0;
  for (i64 i = 0; i < n; ++i) total += static_cast<double>(x[i * step]) * static_cast<double>(x[i * step]);
  return static_cast<float>(std::sqrt(total));
}

float row(const IsaTable& table, Reduction what, const float* x, i64 n) {
  if (what == Reduction::maximum) return table.maximum(x, n);
  if (what == Reduction::minimum) return table.minimum(x, n);
  double total = 0;
  for (i64 i = 0; i < n; i += kPart) {
    const auto m = std::min(kPart, n - i);
    total += what == Reduction::norm ? table.deviation(x + i, 0, m) : table.sum(x + i, m);
  }
  if (what == Reduction::norm) return norm(static_cast<float>(total), x, n, 1);
  return static_cast<float>(what == Reduction::mean ? total / static_cast<double>(n) : total);
}

void columns(const IsaTable& table, Reduction what, const float* x, float* y, i64 n, i64 step, i64 width) {
  const bool extreme = what == Reduction::maximum || what == Reduction::minimum;
  const auto inner = what == Reduction::mean ? Reduction::sum : what;
  const auto join = what == Reduction::maximum   ? Binary::maximum
                    : what == Reduction::minimum ? Binary::minimum
                                                 : Binary::add;
  alignas(64) float part[kRun];
  const auto infinity = std::numeric_limits<float>::infinity();
  std::fill_n(y, width, !extreme ? 0 : (what == Reduction::maximum ? -infinity : infinity));
  for (i64 i = 0; i < n; i += kPart) {
    table.reduce_columns(inner, x + i * step, step, std::min(kPart, n - i), part, width);
    table.binary(join, y, 1, part, 1, y, width);
  }
  const auto count = static_cast<float>(n);
  if (what == Reduction::norm)
    for (i64 c = 0; c < width; ++c) y[c] = norm(y[c], x + c, n, step);
  if (what == Reduction::mean) table.binary(Binary::divide, y, 1, &count, 0, y, width);
}

}  // namespace

void reduce(Reduction what, const float* x, float* y, i64 outer, i64 n, i64 inner, ThreadPool& pool) {
  const auto& table = isa();
  if (inner == 1)
    return parallel_ranges(pool, outer, 10 + static_cast<double>(n) / 8, [&](i64 begin, i64 end) {
      for (auto i = begin; i < end; ++i) y[i] = row(table, what, x + i * n, n);
    });
  const auto runs = ceil_div(inner, kRun);
  parallel_ranges(pool, outer * runs, 10 + static_cast<double>(n * std::min(inner, kRun)) / 8, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto place = i % runs * kRun;
      columns(table, what, x + i / runs * n * inner + place, y + i / runs * inner + place, n, inner,
              std::min(kRun, inner - place));
    }
  });
}

}  // namespace ovir::fast
