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

}  // namespace

void normalize_rows(const RowNormalization& w, const float* x, float* y, i64 begin, i64 end) {
  const auto& table = isa();
  const auto n = w.n;
  if (n == 0) return;
  for (auto r = begin; r < end; ++r) {
    const auto* from = x + r * n;
    auto* to = y + r * n;
    const auto count = static_cast<double>(n);
    const auto mean =
        w.center ? static_cast<float>(in_parts(n, [&](i64 i, i64 m) { return table.sum(from + i, m); }) / count) : 0.0f;
    float factor = 1;
    if (w.scale) {
      const auto variance = in_parts(n, [&](i64 i, i64 m) { return table.deviation(from + i, mean, m); }) / count;
      const auto epsilon = static_cast<double>(w.epsilon);
      factor =
          static_cast<float>(1 / (w.epsilon_inside ? std::sqrt(variance + epsilon) : std::sqrt(variance) + epsilon));
    }
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

void normalize_rows(const RowNormalization& w, const float* x, float* y, ThreadPool& pool) {
  parallel_ranges(pool, w.rows, 30 + static_cast<double>(w.n) / 3,
                  [&](i64 begin, i64 end) { normalize_rows(w, x, y, begin, end); });
}

i64 normalize_scratch_size(const RowNormalization& w, int threads) { return threads * round_up(w.n, kBlock); }

void normalize_rows(const RowNormalization& w, const float* x, std::uint16_t* y, float* scratch, ThreadPool& pool) {
  Slots slots(scratch, round_up(w.n, kBlock), slots_for(pool));
  parallel_ranges(pool, w.rows, 30 + static_cast<double>(w.n) / 3, [&](i64 begin, i64 end) {
    const Slots::Lease room(slots);
    for (auto r = begin; r < end; ++r) {
      auto row = w;
      row.rows = 1;
      normalize_rows(row, x + r * w.n, room.data(), 0, 1);
      narrow_isa().to_bf16(room.data(), y + r * w.n, w.n);
    }
  });
}

}  // namespace ovir::fast
