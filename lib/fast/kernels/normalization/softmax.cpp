#include "fast/kernels/normalization/softmax.hpp"

#include <cmath>

#include "fast/kernels/chunks.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kRun = 64;       // neighbors of an inner axis that are done together
constexpr i64 kShortRow = 16;  // up to here as many rows are done together as columns

void row(const IsaTable& table, const float* x, float* y, i64 n, bool logarithm) {
  // An infinite maximum makes the difference NaN, as the formula has it.
  const auto max = table.maximum(x, n);
  if (logarithm) {
    constexpr i64 kPart = 512;
    alignas(64) float powers[kPart];
    float sum = 0;
    for (i64 i = 0; i < n; i += kPart) sum += table.exp_sum(x + i, 1, max, powers, std::min(kPart, n - i));
    // One after the other: beside a large maximum, the logarithm would lose its digits.
    const auto rest = std::log(sum);
    for (i64 i = 0; i < n; i += kPart) {
      const auto m = std::min(kPart, n - i);
      table.binary(Binary::subtract, x + i, 1, &max, 0, y + i, m);
      table.binary(Binary::subtract, y + i, 1, &rest, 0, y + i, m);
    }
  } else {
    const auto scale = 1 / table.exp_sum(x, 1, max, y, n);
    table.binary(Binary::multiply, y, 1, &scale, 0, y, n);
  }
}

/// `width` ≤ kRun neighbors; values of the axis are `step` apart. Where these lie one behind the other, several of them
/// are a line, whose parts are joined afterwards: lines of a few numbers would cost more calls than work.
void columns(const IsaTable& table, const float* x, float* y, i64 n, i64 step, i64 width, bool logarithm) {
  constexpr i64 kLine = 512;
  const auto together = step == width ? std::clamp<i64>(kLine / width, 1, n) : 1;
  const auto line = together * width, rest = n % together * width;
  alignas(64) float max[kLine], sum[kLine], keep[kLine];
  const auto each_line = [&](const auto& work) {
    for (i64 i = 0; i < n / together; ++i) work(i * together * step, line);
    if (rest > 0) work(n / together * together * step, rest);
  };
  const auto join_parts = [&](Binary f, float* parts) {
    for (i64 left = together, half = 0; left > 1; left -= half) {
      half = left / 2;
      table.binary(f, parts, 1, parts + (left - half) * width, 1, parts, half * width);
    }
  };
  const auto repeat = [&](float* parts) {
    for (i64 there = width, more = 0; there < line; there += more) {
      more = std::min(there, line - there);
      std::copy_n(parts, more, parts + there);
    }
  };
  std::copy_n(x, line, max);
  each_line([&](i64 at, i64 count) { table.binary(Binary::maximum, max, 1, x + at, 1, max, count); });
  join_parts(Binary::maximum, max);
  repeat(max);
  std::fill_n(sum, line, 0.0f);
  each_line([&](i64 at, i64 count) {
    float* to = logarithm ? keep : y + at;
    table.binary(Binary::subtract, x + at, 1, max, 1, to, count);
    table.unary({Function::exp}, to, to, count);
    table.binary(Binary::add, sum, 1, to, 1, sum, count);
  });
  join_parts(Binary::add, sum);
  if (logarithm) table.unary({Function::log}, sum, sum, width);
  else
    for (i64 i = 0; i < width; ++i) sum[i] = 1 / sum[i];
  repeat(sum);
  each_line([&](i64 at, i64 count) {
    if (logarithm) table.binary(Binary::subtract, x + at, 1, max, 1, y + at, count);
    table.binary(logarithm ? Binary::subtract : Binary::multiply, y + at, 1, sum, 1, y + at, count);
  });
}

/// `count` ≤ kRun rows of n ≤ kShortRow.
void short_rows(const IsaTable& table, const float* x, float* y, i64 count, i64 n, bool logarithm) {
  alignas(64) float transposed[kShortRow * kRun];
  table.transpose(x, n, transposed, kRun, count, n);
  columns(table, transposed, transposed, n, kRun, count, logarithm);
  table.transpose(transposed, kRun, y, n, n, count);
}

}  // namespace

void softmax(const float* x, float* y, i64 outer, i64 n, i64 inner, bool logarithm, ThreadPool& pool) {
  if (n == 0 || inner == 0) return;
  const auto& table = isa();
  if (inner == 1 && n <= kShortRow && outer > 1)
    return parallel_ranges(pool, ceil_div(outer, kRun), static_cast<double>(3 * n * kRun), [&](i64 begin, i64 end) {
      for (auto i = begin * kRun; i < std::min(end * kRun, outer); i += kRun)
        short_rows(table, x + i * n, y + i * n, std::min(kRun, outer - i), n, logarithm);
    });
  if (inner == 1)
    return parallel_ranges(pool, outer, 20 + static_cast<double>(n) / 2, [&](i64 begin, i64 end) {
      for (auto i = begin; i < end; ++i) row(table, x + i * n, y + i * n, n, logarithm);
    });
  const auto runs = ceil_div(inner, kRun);
  parallel_ranges(pool, outer * runs, 20 + static_cast<double>(n * std::min(inner, kRun)), [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto place = i / runs * n * inner + i % runs * kRun;
      columns(table, x + place, y + place, n, inner, std::min(kRun, inner - i % runs * kRun), logarithm);
    }
  });
}

}  // namespace ovir::fast
