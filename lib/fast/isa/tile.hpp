// What the loops of packed products and convolutions are told. A "pixel" is a row of the left operand; the right
// operand is packed in panels of 32 columns (the last one may have 16): [step of the sum][column].
#pragma once
#include "base/int.hpp"
#include "fast/isa/elementwise.hpp"

namespace ovir::fast {

/// Channels of a block of Layout::blocked: 64 bytes of f32.
inline constexpr i64 kBlock = 16;
/// Columns of a panel of packed weights.
inline constexpr i64 kColumns = 32;

/// Memory that will be read soon: each step of a tile asks for some lines of it.
struct Ahead {
  const char *next = nullptr, *end = nullptr;
  i64 lines = 0;
};

/// Asks for what is due at a step. In line: a function of its own might be the one compiled for another processor.
[[gnu::always_inline]] inline void ask(Ahead* ahead) {
  if (!ahead) return;
  for (i64 l = 0; l < ahead->lines && ahead->next < ahead->end; ++l, ahead->next += 64)
    __builtin_prefetch(ahead->next, 0, 2);
}

/// Some pixels by the columns of a panel:
///   out[p·out_pixel + (c/16)·out_block + c%16] =
///     clamp(residual + bias[c] + sum over b, t, i of in[p·pixel + b·block + taps[t] + i] · weights[…][c], low, high)
/// The sum runs over b < blocks, t < tap_count, i < steps, in this order, which is also that of the weights; in the
/// last block i < last_steps. Between the weights of two blocks `weights_skip` others lie in the panel, before those of
/// the last block `last_skip`.
struct Tile {
  const float* in;
  i64 pixel, block;
  const i64* taps;
  i64 blocks, tap_count, steps;
  i64 last_steps;  ///< 0: as many as steps
  const float* weights;
  i64 weights_step = 0;  ///< 0: as many as columns, which are all of the panel
  i64 weights_skip = 0, last_skip = 0;
  i64 filled = 0;  ///< columns that have weights, the first ones; the sums of the others are 0; 0: all
  float* out;
  i64 out_pixel, out_block;
  const float* bias;      ///< as many as columns; null: none
  const float* residual;  ///< null: none
  i64 residual_pixel, residual_block;
  float low, high;
  Ahead* ahead;  ///< null: nothing
};

/// The taps of a product: one, of no offset.
inline constexpr i64 kOneTap[1] = {0};

/// A row of a depthwise convolution on 16 channels: out[x·16 …] = clamp(residual + bias + sum over taps of
/// in_tap[x·step …] · weights[tap·16 …]).
struct DepthwiseRow {
  const float* in;
  const i64* taps;         ///< offsets from `in`
  const i64* tap_weights;  ///< offsets from `weights`
  i64 tap_count;
  const float* weights;
  i64 step;  ///< between the pixels of one tap, in floats
  float* out;
  i64 pixels;
  const float* bias;      ///< 16 values; null: none
  const float* residual;  ///< laid out as `out`; null: none
  float low, high;
};

/// Rows of a depthwise convolution on 16 channels, by a kernel of 3 or 5 columns side by side and stride 1 or 2, or of
/// 7 and stride 1. All of them use the same rows of the kernel; columns beside the plane are 0. Or of a convolution of
/// groups of 4 or 8 channels and as many outputs, not by 7 columns.
struct DepthwiseBand {
  int columns, stride;
  i64 group;         ///< channels of a group; 1: depthwise
  const float* in;   ///< column 0 of the input row that the first output row reads first
  i64 width;         ///< of the input
  i64 first;         ///< the input column of output 0's first tap: may be negative
  i64 rows, row;     ///< of the kernel, and floats between the input rows that they read
  const float* end;  ///< rows from here on lie `ring` floats before; null: nowhere
  i64 ring;
  const float* weights;   ///< [channel of a group][rows][columns][16]
  i64 channel_weights;    ///< floats between those of two channels of a group
  i64 lines;              ///< output rows
  i64 in_line, out_line;  ///< floats between what two output rows read first, and between them
  float* out;
  i64 pixels;             ///< of an output row
  const float* bias;      ///< 16 values; null: none
  const float* residual;  ///< laid out as `out`; null: none
  float low, high;
};

/// Rows of some outputs of a group, which lie in one block:
///   out[y·out_row + p·16 + o] = clamp(residual + bias[o] + sum over c, t of
///     in[c/16·block + c%16 + y·row + p·16 + taps[t]] · weights[…][o], low, high)
/// The sum runs over the blocks of the channels c in [first, end), in each of them over t < tap_count, then over its
/// channels: this is also the order of the weights, of which each step has as many as a vector.
struct GroupRows {
  const float* in;
  i64 first, end, block, row;
  const i64* taps;
  i64 tap_count;
  const float* weights;
  i64 rows, pixels;
  i64 outputs;  ///< at most as many as a vector has lanes
  float* out;
  i64 out_row;
  const float* bias;      ///< null: none
  const float* residual;  ///< laid out as `out`; null: none
  float low, high;
};

/// A row of a pooling on 16 channels: the maximum over the taps, or their sum divided by `size`.
struct PoolRow {
  const float* in;
  const i64* taps;  ///< offsets from `in`; none: -inf, or 0 / size
  i64 tap_count;
  i64 step;  ///< between the pixels of one tap, in floats
  float* out;
  i64 pixels;
  bool maximum;  ///< NaN is smaller than anything
  float size;
};

/// A row of a pooling on 16 channels by windows of 2, 3 or 5 columns side by side and a stride of 1 or 2: each pixel is
/// read once for all outputs that it reaches.
struct PoolBand {
  int columns, stride;
  const float* in;  ///< column 0 of the first row of the window
  i64 width;        ///< of the input
  i64 first;        ///< the input column of output 0's first tap: may be negative
  i64 rows, row;    ///< of the window, and floats between them
  float* out;
  i64 pixels;
  bool maximum;  ///< over the columns within the plane; NaN is smaller than anything
  float size;    ///< by which sums are divided; 0: the number of values that are within the plane
};

/// The tiles of Winograd's convolutions. F(m×m, r×r): m × m pixels by r × r taps.
enum class WinogradTile : std::uint8_t {
  two,           ///< F(2×2, 3×3)
  four,          ///< F(4×4, 3×3)
  line,          ///< F(4, 3)
  strided,       ///< F(4×4, 3×3) of stride 2
  strided_line,  ///< F(4, 3) of stride 2
  two_taps,      ///< F(3×3, 2×2)
  four_taps,     ///< F(3×3, 4×4)
  five_taps,     ///< F(2×2, 5×5)
};

/// Along an axis: `points` products, of as many input pixels, give `pixels`.
struct WinogradSide {
  int pixels, taps, points, stride;
};
constexpr WinogradSide side_of(WinogradTile tile) {
  switch (tile) {
    case WinogradTile::two: return {2, 3, 4, 1};
    case WinogradTile::four:
    case WinogradTile::line: return {4, 3, 6, 1};
    case WinogradTile::strided:
    case WinogradTile::strided_line: return {4, 3, 9, 2};
    case WinogradTile::two_taps: return {3, 2, 4, 1};
    case WinogradTile::four_taps: return {3, 4, 6, 1};
    case WinogradTile::five_taps: return {2, 5, 6, 1};
  }
  return {};
}
constexpr bool is_line(WinogradTile tile) { return tile == WinogradTile::line || tile == WinogradTile::strided_line; }
/// Of any tile.
inline constexpr i64 kMaxWinogradPoints = 81;

/// Where the pixels of a Winograd tile go: clamp(residual + bias + value, low, high).
struct WinogradPixels {
  const float* bias;      ///< 16 values; null: none
  const float* residual;  ///< laid out as `out`; null: none
  float low, high;
  float* out;
  i64 row, column;                      ///< floats between rows, and between columns
  int rows, columns;                    ///< at most the tile's; of lines, which are columns, as many as there are
  i64 lanes = kBlock;                   ///< of a tile: those with outputs; the others are 0
  int first_row = 0, first_column = 0;  ///< those before them go nowhere; `out` is where this pixel goes
};

}  // namespace ovir::fast
