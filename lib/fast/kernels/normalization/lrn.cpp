#include "fast/kernels/normalization/lrn.hpp"

#include "fast/isa/lines.hpp"
#include "fast/kernels/chunks.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kRun = 256;  // neighbors done together

/// y = x / (bias + scale · sum)^beta, where `sum` is written over.
void divide(const IsaTable& table, const LocalResponse& l, const float* x, float* sum, float* y, i64 n) {
  if (l.beta == 0.75f) return line_isa().respond(x, sum, l.scale, l.bias, y, n);
  table.unary({Function::linear, l.scale, l.bias}, sum, sum, n);
  if (l.beta == 0.5f) {
    table.unary({Function::sqrt}, sum, sum, n);
  } else if (l.beta != 1) {
    table.unary({Function::log}, sum, sum, n);
    table.binary(Binary::multiply, sum, 1, &l.beta, 0, sum, n);
    table.unary({Function::exp}, sum, sum, n);
  }
  table.binary(Binary::divide, x, 1, sum, 1, y, n);
}

void columns(const IsaTable& table, const LocalResponse& l, const float* x, float* y, i64 width) {
  alignas(64) float sum[kRun];
  for (i64 i = 0; i < l.n; ++i) {
    const auto first = std::max<i64>(0, i - l.half), end = std::min(l.n, i + l.half + 1);
    table.reduce_columns(Reduction::norm, x + first * l.inner, l.inner, end - first, sum, width);
    divide(table, l, x + i * l.inner, sum, y + i * l.inner, width);
  }
}

/// Sums of squares of up to `half` elements to either side in a line: as many lines between zeros, each one element
/// further.
void line_sums(const IsaTable& table, const float* x, i64 n, i64 half, float* padded, float* sums) {
  std::fill_n(padded, half, 0.0f);
  std::copy_n(x, n, padded + half);
  std::fill_n(padded + half + n, half, 0.0f);
  table.reduce_columns(Reduction::norm, padded, 1, 2 * half + 1, sums, n);
}

void plane(const IsaTable& table, const LocalResponse& l, const float* x, float* y, float* scratch) {
  const auto half = std::min(l.half, l.inner);
  auto *sums = scratch, *padded = sums + l.n * l.inner, *sum = padded + l.inner + 2 * half;
  for (i64 i = 0; i < l.n; ++i) line_sums(table, x + i * l.inner, l.inner, half, padded, sums + i * l.inner);
  for (i64 i = 0; i < l.n; ++i) {
    const auto first = std::max<i64>(0, i - l.half), end = std::min(l.n, i + l.half + 1);
    table.reduce_columns(Reduction::sum, sums + first * l.inner, l.inner, end - first, sum, l.inner);
    divide(table, l, x + i * l.inner, sum, y + i * l.inner, l.inner);
  }
}

void line(const IsaTable& table, const LocalResponse& l, const float* x, float* y, float* scratch) {
  const auto half = std::min(l.half, l.n);
  float* sum = scratch + l.n + 2 * half;
  line_sums(table, x, l.n, half, scratch, sum);
  divide(table, l, x, sum, y, l.n);
}

}  // namespace

i64 lrn_scratch(const LocalResponse& l) {
  if (l.plane) return round_up(l.n * l.inner + 2 * l.inner + 2 * std::min(l.half, l.inner), 16);
  return l.inner == 1 ? round_up(2 * (l.n + std::min(l.half, l.n)), 16) : 0;
}

void lrn(const LocalResponse& l, const float* x, float* y, float* scratch, ThreadPool& pool) {
  const auto& table = isa();
  const bool whole = l.plane || l.inner == 1;
  const auto runs = whole ? 1 : ceil_div(l.inner, kRun), width = whole ? l.inner : std::min(l.inner, kRun);
  const auto terms = static_cast<double>(std::min(2 * l.half + 1, l.n));
  const auto cost = static_cast<double>(l.n) * (20 + static_cast<double>(width) * (1 + terms / 8));
  Slots slots(scratch, lrn_scratch(l), slots_for(pool));
  parallel_ranges(pool, l.outer * runs, cost, [&](i64 begin, i64 end) {
    const Slots::Lease lease(slots);
    for (auto i = begin; i < end; ++i) {
      const auto first = i % runs * kRun, place = i / runs * l.n * l.inner + first;
      if (l.plane) plane(table, l, x + place, y + place, lease.data());
      else if (whole) line(table, l, x + place, y + place, lease.data());
      else columns(table, l, x + place, y + place, std::min(kRun, l.inner - first));
    }
  });
}

}  // namespace ovir::fast
