#include "fast/kernels/attention/whole.hpp"

#include <algorithm>
#include <cmath>

namespace ovir::fast {
namespace {

i64 width(const AttentionShape& s) { return round_up(s.keys, kColumns); }

/// Whether the product can store whole panels where the output lies.
bool stores_in_place(const AttentionShape& s) {
  return s.value_depth % (s.bf16 || s.level_values ? kColumns : kBlock) == 0;
}

/// Floats of a row of probabilities as the second product reads them; 0: as they are.
i64 rounded_row(const AttentionShape& s) { return s.bf16 ? width(s) / 2 : s.level_values ? width(s) / 4 : 0; }

}  // namespace

i64 whole_size(const AttentionShape& s) {
  const auto sums = stores_in_place(s) ? 0 : round_up(s.value_depth, kColumns);
  return kQueries * (width(s) + rounded_row(s) + sums) + queries_size(s);
}

void attend_whole(const AttentionShape& all, const PackedHead& head, const HeadView& q, const MaskView& given,
                  i64 first, i64 count, const HeadPlace& out, float* memory) {
  const auto& table = isa();
  float *scores = memory, *rounded = scores + kQueries * width(all), *others = rounded + kQueries * rounded_row(all),
        *sums = others + queries_size(all);
  const auto here = queries(all, q, count, others);
  const auto keys = visible_keys(all, given, first, count, score_bound(all, head, here, count));
  const auto mask = given.from(keys.begin);
  auto s = all;
  s.keys = keys.count();
  multiply_keys(s, here, count, head.keys, keys, scores, width(s));
  const bool grid = mask.grid.columns > 0;
  for (i64 i = 0; grid && i < count; ++i) mask.at(0, 0, i).add_grid(scores + i * width(s), s.scale, 0, s.keys);
  table.softmax_rows({.scores = scores,
                      .width = width(s),
                      .rows = count,
                      .n = s.keys,
                      .first = s.causal ? first + 1 : s.keys,
                      .rises = s.causal ? 1 : 0,
                      .scale = grid ? 1 : s.scale,
                      .added = mask.added,
                      .seen = mask.seen,
                      .hides = mask.hides,
                      .hidden = mask.hidden,
                      .mask_row = mask.row,
                      .mask_column = mask.column});
  // One that is NaN makes all of its row NaN.
  if (s.nan_is_zero || s.unseen_is_zero)
    for (i64 i = 0; i < count; ++i)
      if (std::isnan(scores[i * width(s)]) && gives_zeros(s, mask.at(0, 0, i)))
        std::fill_n(scores + i * width(s), width(s), 0.0f);
  if (s.bf16) narrow_isa().to_bf16(scores, reinterpret_cast<std::uint16_t*>(rounded), count * width(s));
  const auto row = rounded_row(s) > 0 ? rounded_row(s) : width(s);
  if (s.level_values)
    // Behind the last key there are zeros.
    narrow_isa().to_u8(scores, s.p_levels.by, s.p_levels.plus, s.p_levels.max_level,
                       reinterpret_cast<std::uint8_t*>(rounded), count * width(s));
  const auto* probabilities = rounded_row(s) > 0 ? rounded : scores;
  if (stores_in_place(s))
    return multiply_values(s, probabilities, row, count, head.values, all.keys, keys,
                           {.wide = out.wide, .narrow = out.narrow, .pixel = out.row}, false);
  const auto sums_row = round_up(s.value_depth, kColumns);
  multiply_values(s, probabilities, row, count, head.values, all.keys, keys, {.wide = sums, .pixel = sums_row}, false);
  for (i64 i = 0; i < count; ++i)
    if (out.narrow) narrow_isa().to_bf16(sums + i * sums_row, out.narrow + i * out.row, s.value_depth);
    else std::copy_n(sums + i * sums_row, s.value_depth, out.wide + i * out.row);
}

}  // namespace ovir::fast
