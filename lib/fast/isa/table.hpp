// The innermost loops of the fast tier, compiled once for each instruction set. These files include nothing with
// inline functions: the linker could take another file's copy of one, compiled for a newer machine than this.
#pragma once
#include <cstdint>

#include "base/int.hpp"
#include "fast/isa/codes.hpp"
#include "fast/isa/elementwise.hpp"
#include "fast/isa/tile.hpp"

namespace ovir::fast {

/// Columns of a panel of the one-shot product.
inline constexpr i64 kPanel = 64;

struct IsaTable {
  const char* name;
  int lanes;  ///< floats of a vector

  // The one-shot product.
  int rows;  ///< the most rows of a tile
  /// c[i][j] (+)= sum over k of a[i·lda + k] · panel[k·64 + j] for i < m, j < 64; `first`: c is set, not added to.
  void (*tile)(const float* a, i64 lda, const float* panel, i64 k, float* c, int m, bool first);
  /// The sum of x[i]·y[i].
  float (*dot)(const float* x, const float* y, i64 n);
  /// y[r] = the sum of x[i] · rows[r · stride + i] for i < n and r < count: for rows that are short.
  void (*dots)(const float* x, const float* rows, i64 stride, i64 count, i64 n, float* y);
  /// The same for y that comes from memory, followed by what will be wanted next.
  float (*dot_ahead)(const float* x, const float* y, i64 n);
  /// The same for y of f16, and of bf16.
  float (*dot_f16)(const float* x, const std::uint16_t* y, i64 n);
  float (*dot_bf16)(const float* x, const std::uint16_t* y, i64 n);
  /// y[i] += w · x[i·step]
  void (*axpy)(float w, const float* x, i64 step, float* y, i64 n);
  /// y[i] = the sum of w[r] · x[r][i] over r < rows, added to y[i] unless `first`.
  void (*weighted_sum)(const float* w, const float* const* x, i64 rows, float* y, i64 n, bool first);

  // Compressed weights (codes.hpp).
  /// y[r] = the sum of x[k] · value of code k of row r, for r < rows and the first row of x.
  void (*dot_codes)(const CodeRows& w, i64 rows, const LeftRows& left, float* y);
  /// The same for all rows of x, which have sums where there are zero points; results are y_row apart.
  void (*dot_codes_by_rows)(const CodeRows& w, i64 rows, const LeftRows& left, float* y, i64 y_row);
  /// The values of the first row.
  void (*decode)(const CodeRows& w, float* to);

  // Packed products and convolutions (tile.hpp).
  int pixels;  ///< of a Tile that are computed at a time
  void (*packed)(const Tile& tile, i64 pixels, int columns);
  void (*group_rows)(const GroupRows& rows);
  void (*depthwise)(const DepthwiseRow& row);
  void (*depthwise_band)(const DepthwiseBand& band);
  void (*pool)(const PoolRow& row);
  void (*pool_band)(const PoolBand& band);
  /// Winograd's transforms on 16 channels, of tiles that are no lines. `input`: points × points pixels, `row` and
  /// `column` floats apart, become as many vectors of 16, `step` floats apart, of which the first `lanes` are set.
  void (*winograd_input)(WinogradTile tile, const float* in, i64 row, i64 column, float* to, i64 step, i64 lanes);
  /// taps × taps vectors of 16, `from_step` apart, become points × points of them, `step` apart.
  void (*winograd_filter)(WinogradTile tile, const float* from, i64 from_step, float* to, i64 step);
  /// points × points vectors of 16, `step` apart, become pixels × pixels.
  void (*winograd_output)(WinogradTile tile, const float* from, i64 step, const WinogradPixels& to);
  /// The same of lines: `count` of them, of which the first one's pixels are where `pixels` say (null: zeros) and those
  /// of the next `apart` floats further on, become as many vectors of 16 each as there are points, `step` apart.
  void (*line_input)(WinogradTile tile, const float* const* pixels, i64 count, i64 apart, float* to, i64 step);
  void (*line_filter)(WinogradTile tile, const float* from, i64 from_step, float* to, i64 step);
  /// Of to.columns lines, of each to.rows pixels.
  void (*line_output)(WinogradTile tile, const float* from, i64 step, const WinogradPixels& to);

  // Elementwise (elementwise.hpp): in place is allowed.
  void (*unary)(const Unary& f, const float* x, float* y, i64 n);
  /// Operands whose step is 0 are one value for all.
  void (*binary)(Binary f, const float* a, i64 a_step, const float* b, i64 b_step, float* y, i64 n);
  /// y = mask ? a : b; steps are 0 or 1.
  void (*select)(const unsigned char* mask, i64 mask_step, const float* a, i64 a_step, const float* b, i64 b_step,
                 float* y, i64 n);
  /// What follows a tile: rows of n values, `row` apart, become f(value), plus `residual` (may be null) whose rows are
  /// `residual_row` apart. `slopes`: n values, for Function::prelu.
  void (*activate)(const Unary& f, const float* slopes, float* y, i64 row, const float* residual, i64 residual_row,
                   i64 rows, i64 n);

  /// FakeQuantize. `lanes`: each limit is 16 numbers, those of 16 neighboring elements again and again, and n is a
  /// multiple of 16; else one number.
  void (*quantize)(const QuantizeLimits& q, bool lanes, const float* x, float* y, i64 n);

  // Rows.
  float (*sum)(const float* x, i64 n);
  float (*maximum)(const float* x, i64 n);  ///< NaN if one is NaN
  float (*minimum)(const float* x, i64 n);
  /// y[i] = x[i]·scale + plus[i·step], step being 0 or 1; gives the maximum of y, NaN if one is NaN.
  float (*scale_add)(const float* x, float scale, const float* plus, i64 step, float* y, i64 n);
  /// x[i] becomes x[i]·scale + by_row[j / columns] + by_column[j % columns], j being first + i.
  void (*scale_add_grid)(float* x, float scale, const float* by_row, const float* by_column, i64 columns, i64 first,
                         i64 n);
  /// The sum of (x[i] - mean)².
  float (*deviation)(const float* x, float mean, i64 n);
  /// y[c] = the reduction of x[r·step + c] over r < rows, for c < columns; not the mean, but the sum, and of
  /// Reduction::norm the sum of squares.
  void (*reduce_columns)(Reduction what, const float* x, i64 step, i64 rows, float* y, i64 columns);
  /// y[i] = exp(x[i]·scale - shift); gives the sum of y.
  float (*exp_sum)(const float* x, float scale, float shift, float* y, i64 n);
  void (*softmax_rows)(const SoftmaxRows& rows);
  /// Rows of at most short_row numbers.
  i64 short_row;
  void (*normalize_short_rows)(const ShortRows& rows);
  /// y[i] = (x[i] - mean)·scale·weight[i] + bias[i]; weight and bias may be null.
  void (*normalize)(const float* x, float mean, float scale, const float* weight, const float* bias, float* y, i64 n);

  // Pixels of a block, of 16 lanes each.
  /// to[l] = the sum of lane l.
  void (*lane_sums)(const float* x, i64 pixels, float* to);
  /// to[l] = the sum of (lane l - mean[l])².
  void (*lane_deviations)(const float* x, const float* mean, i64 pixels, float* to);
  /// y = (x - mean[l])·scale[l] + bias[l].
  void (*lane_normalize)(const float* x, const float* mean, const float* scale, const float* bias, float* y,
                         i64 pixels);

  // Pixels over their channels; in place is allowed.
  /// Of x[channel·step + pixel].
  void (*normalize_columns)(const NormalizedChannels& n, const float* x, float* y, i64 pixels);
  /// Of whole blocks: x[channel / 16·step + pixel·16 + channel % 16].
  void (*normalize_pixels)(const NormalizedChannels& n, const float* x, float* y, i64 pixels);

  /// A step of an LSTM: of `gates` plus `inputs`, [4][n] (forget, input, cell, output), the first two and the last
  /// through sigmoid, the third through tanh. c becomes forget·c + input·cell, h output·tanh(c).
  void (*lstm_cell)(const float* gates, const float* inputs, float* c, float* h, i64 n);

  // Rotary embedding: each pair of numbers of x, turned by an angle; n is even. y is elsewhere.
  /// y[i] = x[i]·cosine[i] - x[j]·sine[i] and y[j] = x[j]·cosine[j] + x[i]·sine[j], for i < n/2 and j = i + n/2.
  void (*turn_halves)(const float* x, const float* cosine, const float* sine, float* y, i64 n);
  /// The same for even i and j = i + 1.
  void (*turn_neighbors)(const float* x, const float* cosine, const float* sine, float* y, i64 n);

  /// y[c·to + r] = x[r·from + c] for r < rows, c < columns.
  void (*transpose)(const float* x, i64 from, float* y, i64 to, i64 rows, i64 columns);
};

extern const IsaTable kBaseTable;
#if defined(__x86_64__)
extern const IsaTable kAvx2Table, kAvx512Table;
#endif

/// AMX is AVX-512 whose sums of bf16 and u8 are computed in tiles.
enum class Isa : std::uint8_t { best, baseline, avx2, avx512, amx };

/// The loops in use: the best that this machine can run, unless force_isa() said otherwise.
const IsaTable& isa();
/// For tests and measurements, before anything is computed: uses the loops of an instruction set. False, and nothing is
/// changed, where this machine cannot run them.
bool force_isa(Isa level);

}  // namespace ovir::fast
