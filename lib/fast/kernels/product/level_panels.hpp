// Products of levels that are both computed in the run: rows of u8 by panels of i8, summed in i32. A panel of 32
// columns is [words][32], and behind it what the left operand's offset adds to the sums of each column.
#pragma once
#include "fast/kernels/chunks.hpp"
#include "fast/kernels/product/u8.hpp"

namespace ovir::fast {

/// How numbers become levels: level = round(x·by + plus) within 0 … max_level, which stands for
/// step · (level + offset).
struct LevelLine {
  float by = 0, plus = 0, max_level = 0, offset = 0;
};

/// Rows of numbers, or of levels: strides in elements.
struct LevelRows {
  const float* wide = nullptr;
  const std::uint8_t* levels = nullptr;
  i64 row = 0, column = 1;

  /// From row i, and column j, on.
  LevelRows from(i64 i, i64 j = 0) const {
    auto rows = *this;
    if (wide) rows.wide += i * row + j * column;
    if (levels) rows.levels += i * row + j * column;
    return rows;
  }
};

inline i64 level_panel_size(i64 k) { return (u8_words(k) + 1) * kColumns; }
inline i64 level_panels_size(i64 k, i64 n) { return level_panel_size(k) * ceil_div(n, kColumns); }

/// Panels of a right operand whose `count` columns of `depth` numbers are the rows of `from`, to be multiplied by rows
/// on the line `left`.
void pack_level_columns(const LevelRows& from, i64 depth, i64 count, const LevelLine& levels, const LevelLine& left,
                        Word* to);
/// The same of one of so many rows and columns, which lie side by side.
void pack_level_rows(const LevelRows& from, i64 rows, i64 columns, const LevelLine& levels, const LevelLine& left,
                     Word* to);

/// Rows of n levels of a view, u8_words(n) apart, padded with 0.
void rows_to_levels(const LevelRows& from, i64 n, i64 rows, const LevelLine& levels, Word* to);
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
