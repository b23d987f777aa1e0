// Products of rows of u8 by a matrix of i8 that was packed beforehand, summed in i32, with what follows them.
#pragma once
#include <cstdint>

#include "fast/kernels/buffer.hpp"
#include "fast/kernels/epilogue.hpp"
#include "fast/kernels/panels.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// Words of a row of k bytes; what pads it is multiplied by 0.
inline i64 u8_words(i64 k) { return (k + 3) / 4; }

/// Panels of 32 columns, [panel][words of a column][32]; columns beyond the last one are 0.
inline i64 u8_panels_size(i64 k, i64 n) { return u8_words(k) * round_up(n, kColumns); }
/// Of b, whose element (i, j) is b[i·row + j·column].
void pack_u8_panels(const std::int8_t* b, i64 row, i64 column, i64 k, i64 n, Word* to);

/// Levels of rows: level = round(x·factor·by + plus) within 0 … max_level, the factor by column; x·factor is then
/// low + step·level.
struct U8RowScale {
  const float* factors;  ///< null: 1
  float by, plus, low, step, max_level;
};

/// Rows of n floats, side by side, become levels, `apart` bytes apart.
void rows_to_u8(const float* x, const U8RowScale& q, i64 n, i64 rows, std::uint8_t* to, i64 apart);
/// What levels that lie side by side stand for.
void from_u8(const std::uint8_t* levels, const U8RowScale& q, float* to, i64 n);

/// Rows in u8 or f32: one of the pointers.
struct U8Rows {
  std::uint8_t* levels = nullptr;
  float* wide = nullptr;
};

struct U8Product {
  WordPanels panels;
  i64 k, n;
  /// A value is sum·scale + shift, by column and padded to whole panels, the bias included.
  const float *scale, *shift;
  Epilogue epilogue{};                                     ///< of it; its bias and residual do not count
  const U8RowScale* levels = nullptr;                      ///< onto which the result is brought, where it is
  const float *level_by = nullptr, *level_plus = nullptr;  ///< level = round(value·by + plus), by column, padded
  const float *level_scale, *level_shift;  ///< the same line in levels, where nothing but bounds comes between
  bool small = false;                      ///< that line is within ±2^30
  const PairExcess* excess = nullptr;      ///< of the panels (PairExcesses)
};

/// Rows of a are u8_words(k) apart, those of c and of the residual (null: none) side by side.
void product(const U8Product& b, const Word* a, const U8Rows& c, i64 m, const float* residual, ThreadPool& pool);
/// The same in this thread, of packed panels.
void product_of_rows(const U8Product& b, const Word* a, const U8Rows& c, i64 m, const float* residual);

}  // namespace ovir::fast
