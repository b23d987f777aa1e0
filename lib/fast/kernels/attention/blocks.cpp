#include "fast/kernels/attention/blocks.hpp"

#include <cmath>
#include <limits>

namespace ovir::fast {
namespace {

constexpr float kLowest = -std::numeric_limits<float>::infinity();

/// The highest score of a query, from key `first` on. Scores are masked and scaled but for `scale`, which is left.
float highest(const AttentionShape& s, const MaskView& mask, i64 first, float* scores, i64 count, float scale) {
  const auto& table = isa();
  if (mask.added) return table.scale_add(scores, s.scale, mask.added + first * mask.column, mask.column, scores, count);
  if (mask.grid.columns > 0) mask.add_grid(scores, s.scale, first, count);
  else if (scale != s.scale) table.unary({Function::linear, s.scale, 0}, scores, scores, count);
  if (mask.seen) mask.hide(scores, first, count);
  return table.maximum(scores, count) * scale;
}

i64 sums_row(const AttentionShape& s) { return round_up(s.value_depth, kColumns); }

}  // namespace

i64 blocks_size(const AttentionShape& s) {
  return kQueries * (kKeys + sums_row(s) + (s.bf16 ? kKeys / 2 : 0)) + queries_size(s);
}

void attend_blocks(const AttentionShape& s, const PackedHead& head, const HeadView& q, const MaskView& mask, i64 first,
                   i64 count, const HeadPlace& out, float* memory) {
  const auto& table = isa();
  const auto row = sums_row(s);
  float *scores = memory, *sums = scores + kQueries * kKeys, *rounded = sums + kQueries * row;
  const auto here = queries(s, q, count, rounded + (s.bf16 ? kQueries * kKeys / 2 : 0));
  float max[kQueries], total[kQueries];
  for (i64 i = 0; i < count; ++i) {
    max[i] = s.sunk ? mask.sink.of(i) : kLowest;
    total[i] = max[i] > kLowest ? 1.0f : 0.0f;
  }
  const bool masked = mask.added || mask.seen || mask.grid.columns > 0;
  // What is left of the scale where the exponential is taken: without a mask all of it, which keeps the order.
  const auto scale = masked || s.scale < 0 ? 1.0f : s.scale;
  const auto visible = visible_keys(s, mask, first, count, score_bound(s, head, here, count));
  const auto start = visible.begin / kKeys * kKeys;
  for (auto k0 = start; k0 < visible.end; k0 += kKeys) {
    const auto block = head.from(s, k0);
    const auto block_keys = std::min(kKeys, s.keys - k0);
    const KeyRange range{std::max<i64>(visible.begin - k0, 0), std::min(visible.end - k0, block_keys)};
    const auto keys = range.count(), from = k0 + range.begin;
    multiply_keys(s, here, count, block.keys, range, scores, kKeys);
    for (i64 i = 0; i < count; ++i) {
      float* x = scores + i * kKeys;
      const auto seen = s.causal ? std::clamp<i64>(first + i + 1 - from, 0, keys) : keys;
      if (seen < keys) std::fill_n(x + seen, keys - seen, 0.0f);
      if (seen == 0) continue;
      const auto before = max[i];
      const auto own_max = highest(s, mask.at(0, 0, i), from, x, seen, scale);
      max[i] = std::max(before, own_max);
      // max() keeps `before` where the other is NaN; the sum below is NaN then all the same.
      if (max[i] == kLowest && !std::isnan(own_max)) {
        std::fill_n(x, seen, 0.0f);
        continue;
      }
      const auto sum = table.exp_sum(x, scale, max[i], x, seen);
      if (before < max[i]) {
        const auto less = std::exp(before - max[i]);
        total[i] *= less;
        if (k0 > start) table.binary(Binary::multiply, sums + i * row, 1, &less, 0, sums + i * row, row);
      }
      total[i] += sum;
    }
    if (s.bf16) {
      const auto even = round_up(keys, 2);
      for (i64 i = 0; i < count; ++i) {
        if (keys < even) scores[i * kKeys + keys] = 0;
        narrow_isa().to_bf16(scores + i * kKeys, reinterpret_cast<std::uint16_t*>(rounded + i * kKeys / 2), even);
      }
    }
    multiply_values(s, s.bf16 ? rounded : scores, s.bf16 ? kKeys / 2 : kKeys, count, block.values, block_keys, range,
                    {.wide = sums, .pixel = row}, k0 > start);
  }
  for (i64 i = 0; i < count; ++i) {
    const auto less = 1 / total[i];
    float* to = out.narrow ? sums + i * row : out.wide + i * out.row;
    if (!(total[i] > 0) && gives_zeros(s, mask.at(0, 0, i))) std::fill_n(to, s.value_depth, 0.0f);
    else table.binary(Binary::multiply, sums + i * row, 1, &less, 0, to, s.value_depth);
    if (out.narrow) narrow_isa().to_bf16(to, out.narrow + i * out.row, s.value_depth);
  }
}

}  // namespace ovir::fast
