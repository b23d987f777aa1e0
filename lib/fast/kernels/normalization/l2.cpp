#include "fast/kernels/normalization/l2.hpp"

#include <cmath>

#include "fast/kernels/chunks.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kPart = 512;        // values summed in one go
constexpr i64 kNear = 32 * 1024;  // floats that stay in the cache until they are divided
constexpr i64 kLeastRun = 64, kMostRun = 512;

/// What a column is divided by; the sum is taken again where f32 cannot hold the squares.
float length_of(const NormalizedL2& l, double sum, const float* x) {
  constexpr double kLeast = 1e-30, kMost = 1e38;
  if (!(sum > kLeast && sum < kMost)) {
    sum = 0;
    for (i64 i = 0; i < l.n; ++i) {
      const double v = x[i * l.inner];
      sum += v * v;
    }
  }
  return static_cast<float>(std::sqrt(l.adds ? sum + l.eps : std::max(sum, l.eps)));
}

void row(const IsaTable& table, const NormalizedL2& l, const float* x, float* y) {
  double sum = 0;
  for (i64 i = 0; i < l.n; i += kPart) sum += table.deviation(x + i, 0, std::min(kPart, l.n - i));
  const auto length = length_of(l, sum, x);
  table.binary(Binary::divide, x, 1, &length, 0, y, l.n);
}

void columns(const IsaTable& table, const NormalizedL2& l, const float* x, float* y, i64 width) {
  alignas(64) float part[kMostRun], length[kMostRun];
  std::fill_n(length, width, 0.0f);
  for (i64 i = 0; i < l.n; i += kPart) {
    table.reduce_columns(Reduction::norm, x + i * l.inner, l.inner, std::min(kPart, l.n - i), part, width);
    table.binary(Binary::add, length, 1, part, 1, length, width);
  }
  for (i64 c = 0; c < width; ++c) length[c] = length_of(l, length[c], x + c);
  for (i64 i = 0; i < l.n; ++i) table.binary(Binary::divide, x + i * l.inner, 1, length, 1, y + i * l.inner, width);
}

}  // namespace

void normalize_l2(const NormalizedL2& l, const float* x, float* y, ThreadPool& pool) {
  const auto& table = isa();
  const auto n = static_cast<double>(l.n);
  if (l.inner == 1)
    return parallel_ranges(pool, l.outer, 20 + n / 4, [&](i64 begin, i64 end) {
      for (auto i = begin; i < end; ++i) row(table, l, x + i * l.n, y + i * l.n);
    });
  const auto run = std::clamp(kNear / l.n / kLeastRun * kLeastRun, kLeastRun, kMostRun), runs = ceil_div(l.inner, run);
  const auto cost = 20 + n * (5 + static_cast<double>(std::min(l.inner, run)) / 4);
  parallel_ranges(pool, l.outer * runs, cost, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto first = i % runs * run, place = i / runs * l.n * l.inner + first;
      columns(table, l, x + place, y + place, std::min(run, l.inner - first));
    }
  });
}

}  // namespace ovir::fast
