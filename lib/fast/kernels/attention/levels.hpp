// Products of levels in attention: rows of u8 by panels of i8, summed in i32. A panel of 32 columns is [words][32],
// and behind it what the left operand's offset adds to the sums of each column.
#pragma once
#include "fast/kernels/attention/attention.hpp"
#include "fast/kernels/product/u8.hpp"

namespace ovir::fast {

inline i64 level_panel_size(i64 k) { return (u8_words(k) + 1) * kColumns; }
inline i64 level_panels_size(i64 k, i64 n) { return level_panel_size(k) * ceil_div(n, kColumns); }

/// `count` keys of so many columns, the first of `view`, whose products with rows on levels `left` come.
void pack_level_keys(const HeadView& view, i64 depth, i64 count, const HeadLevels& levels, const HeadLevels& left,
                     Word* to);
/// As many rows of values, side by side in `view`.
void pack_level_values(const HeadView& view, i64 rows, i64 columns, const HeadLevels& levels, Word* to);

/// Rows of n levels of a view, u8_words(n) apart, padded with 0.
void rows_to_levels(const HeadView& view, i64 n, i64 rows, const HeadLevels& levels, Word* to);
/// The sums of rows of n levels, `row` words apart, times `by`.
void add_up_levels(const Word* rows, i64 row, i64 n, i64 count, float by, float* to);

/// out = scale · (sum + what the offsets add), of `count` rows by the panels of n columns, steps [first, first + steps)
/// of the k of which these were made. `added`: a number a row, of sums; null: none.
struct LevelProduct {
  const Word* rows;
  i64 row;  ///< in words
  const Word* panels;
  i64 k, n;
  i64 first, steps;  ///< multiples of 4, or up to the end
  float scale;
  const float* added;
  float* out;
  i64 out_row;
};
void multiply_levels(const LevelProduct& p, i64 count);

}  // namespace ovir::fast
