#include "fast/kernels/normalization/rows.hpp"

#include <cmath>

#include "fast/isa/narrow.hpp"
#include "fast/kernels/chunks.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kLong = 4096;  // from here on sums are taken in parts, which rounds less

template <class Sum>
double in_parts(i64 n, Sum sum) {
  double total = 0;
  for (i64 i = 0; i < n; i += kLong) total += sum(i, std::min(kLong, n - i));
  return total;
}

struct Moments {
  float mean = 0, factor = 1;
};

float mean_of(const RowNormalization& w, const float* row) {
  if (!w.center) return 0;
  const auto sum = in_parts(w.n, [&](i64 i, i64 part) { return isa().sum(row + i, part); });
  return static_cast<float>(sum / static_cast<double>(w.n));
}

float factor_of(const RowNormalization& w, const float* row, float mean) {
  if (!w.scale) return 1;
  const auto sum = in_parts(w.n, [&](i64 i, i64 part) { return isa().deviation(row + i, mean, part); });
  const auto variance = sum / static_cast<double>(w.n), epsilon = static_cast<double>(w.epsilon);
  return static_cast<float>(1 / (w.epsilon_inside ? std::sqrt(variance + epsilon) : std::sqrt(variance) + epsilon));
}

/// Calls use(row, moments) for every row. Those of some rows are found together: each waits for its own sums.
template <class Use>
void with_moments(const RowNormalization& w, const float* x, i64 begin, i64 end, Use use) {
  constexpr i64 kRows = 8;
  for (auto first = begin; first < end; first += kRows) {
    Moments found[kRows];
    const auto rows = std::min(kRows, end - first);
    for (i64 i = 0; i < rows; ++i) found[i].mean = mean_of(w, x + (first + i) * w.n);
    for (i64 i = 0; i < rows; ++i) found[i].factor = factor_of(w, x + (first + i) * w.n, found[i].mean);
    for (i64 i = 0; i < rows; ++i) use(first + i, found[i]);
  }
}

/// Whether rows stay in registers.
bool are_short(const RowNormalization& w) { return w.per_channel == 0 && w.n <= isa().short_row; }

void normalize_short(const RowNormalization& w, const float* x, float* y, i64 rows) {
  constexpr i64 kFinished = 4096;  // values that are still in the first-level cache for an activation
  const bool activates = w.activation.f != Function::identity;
  const auto together = activates ? std::max<i64>(kFinished / w.n, 1) : rows;
  for (i64 r = 0; r < rows; r += together) {
    const auto now = std::min(together, rows - r);
    isa().normalize_short_rows({.x = x + r * w.n,
                                .y = y + r * w.n,
                                .rows = now,
                                .n = w.n,
                                .center = w.center,
                                .scale = w.scale,
                                .epsilon_inside = w.epsilon_inside,
                                .epsilon = w.epsilon,
                                .weight = w.weight,
                                .bias = w.bias});
    if (activates) isa().unary(w.activation, y + r * w.n, y + r * w.n, now * w.n);
  }
}

double cost_of(const RowNormalization& w) { return 30 + static_cast<double>(w.n) / 3; }

}  // namespace

void normalize_rows(const RowNormalization& w, const float* x, float* y, i64 begin, i64 end) {
  const auto& table = isa();
  const auto n = w.n;
  if (n == 0) return;
  if (are_short(w)) return normalize_short(w, x + begin * n, y + begin * n, end - begin);
  with_moments(w, x, begin, end, [&](i64 r, const Moments& m) {
    const auto* from = x + r * n;
    auto* to = y + r * n;
    if (w.per_channel == 0) {
      table.normalize(from, m.mean, m.factor, w.weight, w.bias, to, n);
    } else {
      const auto channels = n / w.per_channel, first = r % w.channel_rows * channels;
      for (i64 c = 0; c < channels; ++c) {
        const auto place = c * w.per_channel;
        table.normalize(from + place, m.mean, m.factor * (w.weight ? w.weight[first + c] : 1.0f), nullptr, nullptr,
                        to + place, w.per_channel);
        if (w.bias) table.binary(Binary::add, to + place, 1, w.bias + first + c, 0, to + place, w.per_channel);
      }
    }
    if (w.activation.f != Function::identity) table.unary(w.activation, to, to, n);
  });
}

void normalize_rows(const RowNormalization& w, const float* x, std::uint16_t* y, i64 begin, i64 end) {
  constexpr i64 kPart = 512;
  const auto& table = isa();
  alignas(64) float part[kPart];
  if (w.n > 0 && are_short(w)) {
    const auto together = kPart / w.n;
    for (auto r = begin; r < end; r += together) {
      const auto rows = std::min(together, end - r);
      normalize_short(w, x + r * w.n, part, rows);
      narrow_isa().to_bf16(part, y + r * w.n, rows * w.n);
    }
    return;
  }
  with_moments(w, x, begin, end, [&](i64 r, const Moments& m) {
    const auto* from = x + r * w.n;
    for (i64 i = 0; i < w.n; i += kPart) {
      const auto now = std::min(kPart, w.n - i);
      table.normalize(from + i, m.mean, m.factor, w.weight ? w.weight + i : nullptr, w.bias ? w.bias + i : nullptr,
                      part, now);
      if (w.activation.f != Function::identity) table.unary(w.activation, part, part, now);
      narrow_isa().to_bf16(part, y + r * w.n + i, now);
    }
  });
}

void normalize_rows(const RowNormalization& w, const float* x, float* y, ThreadPool& pool) {
  parallel_ranges(pool, w.rows, cost_of(w), [&](i64 begin, i64 end) { normalize_rows(w, x, y, begin, end); });
}

void normalize_rows(const RowNormalization& w, const float* x, std::uint16_t* y, ThreadPool& pool) {
  parallel_ranges(pool, w.rows, cost_of(w), [&](i64 begin, i64 end) { normalize_rows(w, x, y, begin, end); });
}

}  // namespace ovir::fast
