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

Moments moments(const RowNormalization& w, const float* row) {
  const auto& table = isa();
  const auto n = w.n;
  const auto count = static_cast<double>(n);
  Moments m;
  if (w.center)
    m.mean = static_cast<float>(in_parts(n, [&](i64 i, i64 part) { return table.sum(row + i, part); }) / count);
  if (!w.scale) return m;
  const auto variance = in_parts(n, [&](i64 i, i64 part) { return table.deviation(row + i, m.mean, part); }) / count;
  const auto epsilon = static_cast<double>(w.epsilon);
  m.factor = static_cast<float>(1 / (w.epsilon_inside ? std::sqrt(variance + epsilon) : std::sqrt(variance) + epsilon));
  return m;
}

double cost_of(const RowNormalization& w) { return 30 + static_cast<double>(w.n) / 3; }

}  // namespace

void normalize_rows(const RowNormalization& w, const float* x, float* y, i64 begin, i64 end) {
  const auto& table = isa();
  const auto n = w.n;
  if (n == 0) return;
  for (auto r = begin; r < end; ++r) {
    const auto* from = x + r * n;
    auto* to = y + r * n;
    const auto [mean, factor] = moments(w, from);
    if (w.per_channel == 0) {
      table.normalize(from, mean, factor, w.weight, w.bias, to, n);
    } else {
      const auto channels = n / w.per_channel, first = r % w.channel_rows * channels;
      for (i64 c = 0; c < channels; ++c) {
        const auto place = c * w.per_channel;
        table.normalize(from + place, mean, factor * (w.weight ? w.weight[first + c] : 1.0f), nullptr, nullptr,
                        to + place, w.per_channel);
        if (w.bias) table.binary(Binary::add, to + place, 1, w.bias + first + c, 0, to + place, w.per_channel);
      }
    }
    if (w.activation.f != Function::identity) table.unary(w.activation, to, to, n);
  }
}

void normalize_rows(const RowNormalization& w, const float* x, std::uint16_t* y, i64 begin, i64 end) {
  constexpr i64 kPart = 512;
  const auto& table = isa();
  alignas(64) float part[kPart];
  for (auto r = begin; r < end; ++r) {
    const auto* from = x + r * w.n;
    const auto [mean, factor] = moments(w, from);
    for (i64 i = 0; i < w.n; i += kPart) {
      const auto now = std::min(kPart, w.n - i);
      table.normalize(from + i, mean, factor, w.weight ? w.weight + i : nullptr, w.bias ? w.bias + i : nullptr, part,
                      now);
      if (w.activation.f != Function::identity) table.unary(w.activation, part, part, now);
      narrow_isa().to_bf16(part, y + r * w.n + i, now);
    }
  }
}

void normalize_rows(const RowNormalization& w, const float* x, float* y, ThreadPool& pool) {
  parallel_ranges(pool, w.rows, cost_of(w), [&](i64 begin, i64 end) { normalize_rows(w, x, y, begin, end); });
}

void normalize_rows(const RowNormalization& w, const float* x, std::uint16_t* y, ThreadPool& pool) {
  parallel_ranges(pool, w.rows, cost_of(w), [&](i64 begin, i64 end) { normalize_rows(w, x, y, begin, end); });
}

}  // namespace ovir::fast
