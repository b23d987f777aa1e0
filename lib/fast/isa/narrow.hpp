// The innermost loops on bf16 and on u8 by i8, compiled once for each instruction set as those of table.hpp are.
//
// Operands are words of 4 bytes: two neighboring channels (or steps of a sum) in bf16, four in u8 or i8. A pixel of a
// block is 16 words, 64 bytes, as it is in f32, so addresses are those of the loops on f32.
#pragma once
#include <cstdint>

#include "fast/isa/codes.hpp"
#include "fast/isa/elementwise.hpp"
#include "fast/isa/tile.hpp"

namespace ovir::fast {

using Word = std::uint32_t;
struct TileAside;
struct TileRows;

/// How 8 columns of a panel are multiplied where NarrowTable::adds_pairs. Weights that do not fit are added to those of
/// some steps. Products by several steps fit 16 bits together, as groups of steps.
struct PairExcess {
  struct Step {
    std::uint32_t i;
    std::uint16_t block, tap;
  };
  bool fits = true;  ///< otherwise they are multiplied as i16, as are those of the other half of 16 columns
  /// If not null, as for the other half: by step, which bytes make its word, of the sixteen from word first_of_four()
  /// of its run on.
  const Word* picks = nullptr;
  bool by_column = false;  ///< picks are of each column by itself, 8 a step, for the other half of 16 columns, too
  bool halved = false;     ///< of each four steps of a run the second two are 0, for the other half of 16 columns, too
  const Step* steps = nullptr;
  const Word* weights = nullptr;  ///< 8 a step
  const i64* ends = nullptr;      ///< of each group, the number of the step behind it
  i64 groups = 0;
};

/// The first of four words of a run of `steps` among which is that of step i: none of them lies beyond a run of four.
inline constexpr i64 first_of_four(i64 i, i64 steps) {
  const auto last = steps > 4 ? steps - 4 : 0;
  return i < last ? i / 4 * 4 : last;
}

/// How the steps of a panel follow each other: those of a tap after the other, block by block.
struct PanelSteps {
  i64 blocks = 1, taps = 1, steps = 0, last_steps = 0;  ///< of a tap, and of one in the last block
  bool spare = false;                                   ///< four words may be read where there are fewer
  i64 size() const { return ((blocks - 1) * steps + last_steps) * taps; }
};

/// What a few pixels by the 32 columns of a panel sum up: for pixel p and column c,
///   sum over b, t, i of in[p·pixel + b·block + taps[t] + i] ∙ weights[…][c]
/// where ∙ is the sum of the products of two or four neighbors. The sum runs over b < blocks, t < tap_count and
/// i < steps, in the last block i < last_steps, in this order, which is also that of the weights.
struct NarrowSum {
  const Word* in;
  i64 pixel, block;  ///< in words, as are taps
  const i64* taps;
  i64 blocks, tap_count, steps, last_steps;
  const Word* weights;  ///< 32 a step
  Ahead* ahead;         ///< null: nothing
  /// Where NarrowTable::leaves_out: so many taps before the first one and behind the last one of each block are left
  /// out, of which there are weights.
  i64 before = 0, after = 0;
  /// If not null: the taps of columns 16 … 31, which then read others than those before them.
  const i64* other_taps = nullptr;
  /// Of u8 where NarrowTable::adds_pairs, if not null: four of the panel, whose other weights fit.
  const PairExcess* excess = nullptr;
  /// If not 0: pixels are those of short rows, `run` each, `row` words apart: two rows, or where NarrowTable::tiled as
  /// many as rows_of_tile() says or twice as many at most.
  i64 run = 0, row = 0;
  /// If not 0: operands are f32 as the sum of three bf16 each (to_bf16x3). Words of the second and third part lie this
  /// far behind those of the first; of weights there are [block][tap][part][16][32], the third part first as it is
  /// used. All blocks have 16 steps.
  i64 part = 0;
  /// Of bf16 where NarrowTable::tiled, if not null: what follows the sums is done while the next tile is multiplied, or
  /// by NarrowTable::finish.
  TileAside* aside = nullptr;
  /// If not null: it is for bf16_rows or u8_rows.
  const TileRows* rows = nullptr;
};

/// out = clamp(residual + bias + sum, low, high) in f32, `narrow` of it, or activation(…) + last, stored as f32 or
/// rounded to bf16.
struct Bf16Tile {
  NarrowSum sum;
  const float* bias = nullptr;              ///< 32 values; null: none
  const std::uint16_t* residual = nullptr;  ///< bf16, 32 values a pixel; null: none
  const float* wide_residual = nullptr;     ///< the same in f32, 16 columns `residual_block` apart
  i64 residual_pixel = 0, residual_block = 0;
  float low, high;
  Unary narrow{};                 ///< of what becomes bf16: gelu_short, hswish, or swish_short if the table swishes
  Unary activation{};             ///< of what is stored as f32
  const float* slopes = nullptr;  ///< 32 values, for Function::prelu
  const float* last = nullptr;    ///< laid out as `wide_residual`; null: none
  /// Table::activate, for an activation.
  void (*activate)(const Unary& f, const float* slopes, float* y, i64 row, const float* residual, i64 residual_row,
                   i64 rows, i64 n) = nullptr;
  float* wide = nullptr;         ///< where f32 is stored: out[p·out_pixel + c/16·out_block + c%16]; null: bf16
  std::uint16_t* out = nullptr;  ///< where bf16 is: out[p·out_pixel + c]
  i64 out_pixel = 0, out_block = 0;
  i64 columns = kColumns;  ///< 16: the others are left out; in bf16 they become zeros, without `narrow` of them
};

/// Tiles of a row, each of 2 × 2 pixels of 32 columns, from their 16 transformed sums: clamp(residual + bias + value,
/// low, high), stored as Bf16Tile does. Column c of point p of tile t is at from[t·16 + p·point + c/16·half + c%16].
struct Bf16WinogradTiles {
  i64 count;
  const float* from;
  i64 point, half;
  const float* bias = nullptr;              ///< 32 values; null: none
  const std::uint16_t* residual = nullptr;  ///< bf16, 32 values a pixel; null: none
  i64 residual_row = 0;
  float low, high;
  float* wide = nullptr;
  std::uint16_t* out = nullptr;
  i64 pixel = 0, row = 0, block = 0;
  int rows = 2, columns = 2;  ///< of each, at most 2
};

/// What follows v = sum·scale + shift before it becomes a level: f(v)·by + plus, bounded by the low and high beside it.
struct U8Activation {
  Unary f{};                                   ///< as Bf16Tile::narrow, or prelu; identity: none
  const float *by = nullptr, *plus = nullptr;  ///< as many values as of `scale`
  const float* below = nullptr;                ///< of prelu: the factors of negative v, in place of `by`
  explicit operator bool() const { return f.f != Function::identity; }
};

/// How sums of u8 by i8 become values again, by column: v = sum·scale + shift, rounded once, bounded by low and high.
/// With a residual then v·own + residual·other + offset, bounded by min and max, v being rounded before where it
/// `rounds`.
/// Stored as f32, or as u8 by rounding to the nearest, halves to even: the bounds must then be those of u8.
struct U8Tile {
  NarrowSum sum;
  const float *scale, *shift;  ///< 32 values each
  float low, high;
  const std::uint8_t* residual = nullptr;  ///< 32 values a pixel; null: none
  const float* wide_residual = nullptr;    ///< the same in f32, 16 columns `residual_block` apart
  i64 residual_pixel = 0, residual_block = 0;
  bool small = false;  ///< sum·scale + shift is within ±2^30
  /// If not null, bounds of what is stored as u8 without a residual, 32 values each: low and high are 0 and 255.
  const std::uint8_t *lows = nullptr, *highs = nullptr;
  U8Activation activation{};  ///< of what is stored as u8 without a residual
  bool rounds = false;
  float own = 1, other = 0, offset = 0, min = 0, max = 0;
  float* wide = nullptr;        ///< as above; null: u8
  std::uint8_t* out = nullptr;  ///< 32 values a pixel
  i64 out_pixel = 0, out_block = 0;
  i64 columns = kColumns;  ///< 16: the others may be left out
  i64 filled = kColumns;   ///< columns that have weights, the first ones
};

/// What follows values of 16 columns that lie aside, a pixel after the other: PRelu by `slopes`; round(v·by + plus)
/// within 0 … max_level; with a residual v·own + residual·other + offset, bounded, PRelu by `sum_slopes`, and where
/// there is `out` round(v·sum_by + sum_plus) within 0 … sum_max_level. What is null is left out. Without `out` the
/// result takes the place of the values.
struct U8Aside {
  float* values;
  const float *slopes = nullptr, *by = nullptr, *plus = nullptr;  ///< 16 values each
  float max_level = 255;
  const std::uint8_t* residual = nullptr;  ///< 16 values a pixel
  const float* wide_residual = nullptr;    ///< the same in f32
  i64 residual_pixel = 0;
  float own = 1, other = 0, offset = 0, min = 0, max = 0;
  const float* sum_slopes = nullptr;
  float sum_by = 1, sum_plus = 0, sum_max_level = 255;
  std::uint8_t* out = nullptr;  ///< 16 values a pixel; wants levels, of `by` or of the sum
  i64 out_pixel = 0;
};

/// Sums stored as they are, that of pixel p and column c at out[p·out_pixel + c/16·out_block + c%16]: of bf16 as f32,
/// of i16 by i16, words of two neighbors, modulo 2^32.
struct SumTile {
  NarrowSum sum;
  Word* out;
  i64 out_pixel, out_block;
  i64 columns = kColumns;  ///< 16: the others may be left out
};

/// 4 × 4 pixels of 32 columns from their 36 transformed sums, from which 576 times the sums of U8Tile come. Column c of
/// point p is at from[p·point + c/16·half + c%16].
struct U8WinogradTile {
  const Word* from;
  i64 point, half;
  U8Tile tile;                ///< where the first pixel is stored and what follows its sum
  i64 width;                  ///< pixels of a row of the output
  int rows = 4, columns = 4;  ///< at most 4
};

/// Rows of a depthwise convolution of u8 by i8 on the 64 channels of a block: v = sum·scale + shift, bounded.
struct U8DepthwiseRows {
  const Word* in;
  const i64* taps;             ///< offsets from `in`, in words
  i64 tap_count;               ///< at most 64
  i64 channels;                ///< of the block that count
  const std::int8_t* weights;  ///< 64 a tap
  i64 step;
  const float *scale, *shift;  ///< 64 values each
  float low, high;
  bool small;                                            ///< as above
  const std::uint8_t *lows = nullptr, *highs = nullptr;  ///< as above, 64 values each
  U8Activation activation{};                             ///< of what is stored as u8
  std::uint8_t* out;                                     ///< 64 values a pixel, row after row
  i64 pixels;                                            ///< of a row
  i64 rows, row;                                         ///< how many, and the words between those of the input
  float* wide = nullptr;  ///< where f32 is stored: wide[c/16·wide_block + x·16 + c%16] for c/16 < wide_blocks
  i64 wide_block = 0, wide_blocks = 0;
};

/// Rows of a depthwise convolution on the 32 channels of a block in bf16. Weights are f32, 32 a tap, first those of the
/// even channels, then those of the odd ones; bias alike. Lanes of channels that do not count become any small numbers.
struct Bf16DepthwiseRows {
  const Word* in;
  const i64* taps;  ///< offsets from `in`, in words
  i64 tap_count;
  i64 channels;  ///< of the block that count
  const float* weights;
  i64 step;  ///< between the pixels of one tap, in words
  Word* out;
  i64 pixels;     ///< of a row
  i64 rows, row;  ///< how many, and the words between those of the input
  const float* bias;
  float low, high;
  Unary narrow{};         ///< as Bf16Tile has it; without bounds
  float* wide = nullptr;  ///< where f32 is stored, a pixel's even channels before the odd ones; null: `out`
};

/// The most of NarrowTable::pixels.
inline constexpr int kMostPixels = 32;

/// Rows of `run` pixels that are one tile of at most 16 lines, with what lies between them. 0: one row is more already.
inline constexpr i64 rows_of_tile(i64 run, i64 row, i64 pixel) {
  constexpr i64 kLines = 16;
  if (run > kLines) return 0;
  return row % pixel == 0 && row > 0 ? (kLines - run) / (row / pixel) + 1 : 1;
}

/// Two rows that are one tile have so many pixels each, at least.
inline constexpr int kShortestRow = 4;

/// An operation on the result of the one before it, in f32.
enum class Bf16Element : std::uint8_t { add, subtract, multiply, clamp, hswish };
struct Bf16ElementStep {
  Bf16Element element;
  const std::uint16_t* full = nullptr;                     ///< the second operand, as many as the first
  const float* lanes = nullptr;                            ///< or 32 values that are the same for all pixels
  float low = -__builtin_inff(), high = __builtin_inff();  ///< of clamp
};

/// Rows of f32, as the sum of three bf16 each (to_bf16x3), by all panels of a matrix of f32:
/// out = clamp(residual + bias + sum, low, high). The parts of the weights are made while others are multiplied.
struct Bf16x3Rows {
  const Word* in;  ///< [block of 32 steps][part][rows][16]
  int rows;        ///< at most kMostPixels
  i64 blocks, n;
  const float* weights;   ///< [panel of 32 columns][block][pair of steps][column][2]
  Word* room;             ///< kRoom words, on a cache line
  const float* bias;      ///< by column; null: none
  const float* residual;  ///< rows `row` apart; null: none; may be `out`
  float low, high;
  float* out;
  i64 row;

  static constexpr i64 kRoom = 2 * 3 * kBlock * kColumns;
};

/// A few rows by panels of 32 columns: out = bias + sum, in f32.
struct Bf16FewRows {
  const Word* in;  ///< rows `row` words apart
  i64 row, words;
  const Word* weights;  ///< [panel][words][32]
  const float* bias;    ///< by column; null: none
  float* out;           ///< rows `out_row` apart
  i64 out_row;
  i64 columns;  ///< a multiple of 32

  static constexpr int kMost = 3;  ///< rows
};

/// Sums of a tile in bf16, and what is still to be done with them while the sums of the next tile are added up.
struct TileAside {
  alignas(64) float sums[2][kMostPixels * kColumns];  ///< of this tile and of the next one
  int which = 0;                                      ///< those of the next one
  Bf16Tile tile{};
  int first = 0, pixels = 0, done = 0;  ///< of the tile: its first pixel, how many there are, and are finished
};

/// Rows of a convolution of groups, by 16 columns of a panel from `column` on: `pixels` each, which lie side by side.
/// They read what is NarrowSum::row words apart; their results lie `apart` pixels apart.
struct TileRows {
  i64 column, rows, pixels, apart;
};

struct NarrowTable {
  const char* name;
  int pixels;            ///< the most that are computed at once
  bool swishes = false;  ///< Bf16Tile::narrow may be swish_short
  /// The machine has instructions for bf16. Without, the loops on it round alike, and take longer than those on f32.
  bool has_bf16 = false;
  /// It has an instruction for u8 by i8. Without, a sum takes as long as one of i16 does.
  bool has_u8 = false;
  /// It has one that adds products of u8 by i8 in pairs, where these fit 16 bits.
  bool adds_pairs = false;
  bool leaves_out = false;  ///< NarrowSum::before, after
  bool tiled = false;       ///< sums of bf16 and u8 are so fast that Winograd does not pay
  /// Of any number of pixels, some at a time; as u8.
  void (*bf16)(const Bf16Tile& tile, int pixels);
  /// At most Bf16FewRows::kMost rows, whose weights come as fast as the second-level cache gives them. A sum is taken
  /// in parts: its bits are not those of `bf16`.
  void (*bf16_few_rows)(const Bf16FewRows& r, int rows);
  void (*bf16_depthwise)(const Bf16DepthwiseRows& rows);
  /// Winograd's F(2×2, 3×3): 4 × 4 pixels of a block, rows `row` words apart, become 16 pixels of rounded values,
  /// `step` words apart, each of the 16 even channels before the odd ones.
  void (*bf16_winograd_input)(const Word* in, i64 row, Word* to, i64 step);
  void (*bf16_winograd_output)(const Bf16WinogradTiles& tile);
  /// Pixels of 16 even, then 16 odd channels, rounded.
  void (*merge_bf16)(const float* x, Word* y, i64 pixels);
  /// Of 32 channels a block; the pointers are to words.
  void (*bf16_pool)(const PoolRow& row);
  void (*u8)(const U8Tile& tile, int pixels);
  void (*finish)(TileAside& last) = nullptr;  ///< where `tiled`
  /// Tiles of rows, without activations. Null: no faster than single tiles.
  void (*bf16_rows)(const Bf16Tile& tile, const TileRows& rows) = nullptr;
  void (*u8_rows)(const U8Tile& tile, const TileRows& rows) = nullptr;
  void (*i16_sums)(const SumTile& tile, int pixels);
  void (*bf16_sums)(const SumTile& tile, int pixels);
  /// Winograd's F(4×4, 3×3): 6 × 6 pixels of 32 channels in u8, rows `row` words apart, become 36 pixels in i16, `step`
  /// words apart.
  void (*u8_winograd_input)(const Word* in, i64 row, Word* to, i64 step);
  void (*u8_winograd_output)(const U8WinogradTile& tile);
  void (*u8_depthwise)(const U8DepthwiseRows& rows);
  /// The maximum, of 64 channels a block; the pointers are to words.
  void (*u8_pool)(const PoolRow& row);
  /// y = round(x·scale + shift) within 0 … max_level.
  void (*to_u8)(const float* x, float scale, float shift, float max_level, std::uint8_t* y, i64 n);
  /// Of rows of n, `row` and `to` elements apart.
  void (*rows_to_u8)(const float* x, i64 row, float scale, float shift, float max_level, std::uint8_t* y, i64 to,
                     i64 rows, i64 n);
  /// Rows of n numbers, one of each of up to four channels, become words, `step` apart: the same by channel.
  void (*pixels_to_u8)(const float* const* x, int channels, const float* by, const float* plus, float max_level, i64 n,
                       Word* to, i64 step);
  /// Steps one after the other on pixels of 32 values; in place is allowed.
  void (*bf16_elements)(const std::uint16_t* x, std::uint16_t* y, i64 pixels, const Bf16ElementStep* steps, int count);
  /// Rounds to the nearest, halves to even.
  void (*to_bf16)(const float* x, std::uint16_t* y, i64 n);
  /// Rows of n, `row` and `to` elements apart.
  void (*rows_to_bf16)(const float* x, i64 row, std::uint16_t* y, i64 to, i64 rows, i64 n);
  void (*from_bf16)(const std::uint16_t* x, float* y, i64 n);
  /// Of 16 channels of pixels of 32: the sum of x by channel, or where there are means of (x - mean)².
  void (*lane_sums)(const std::uint16_t* x, i64 pixels, const float* mean, float* to);
  /// y = (x - mean)·scale + bias of the same, by channel, or its GELU.
  void (*lane_normalize)(const std::uint16_t* x, i64 pixels, const float* mean, const float* scale, const float* bias,
                         bool gelu, std::uint16_t* y);
  /// Rows of bf16, `row` apart, become lines of 32 words: word c of line i is element c of rows 2i and 2i + 1; 0 where
  /// there is no such row, or for c ≥ columns.
  void (*pair_rows)(const std::uint16_t* x, i64 row, i64 rows, i64 columns, Word* to);
  /// A vector, by which rows of codes as those of `w` will be multiplied, as digits. False where it has numbers that
  /// are not finite, or too large or small, or codes that loops have no instruction for: dot_codes (table.hpp) is for
  /// those. Null, as dot_digits, where the machine has none at all.
  bool (*to_digits)(const CodeRows& w, const float* x, const Digits& to) = nullptr;
  /// As dot_codes (table.hpp).
  void (*dot_digits)(const CodeRows& w, i64 rows, const Digits& x, float* y) = nullptr;
  /// f32 as the sum of three bf16: its upper 8 bits, the next 8, and what is left. Of n pixels of 32 numbers, of which
  /// 16 lie at x and 16 at y (null: zeros), `step` floats apart, words 16 apart; part p goes to to + p·part. Null, as
  /// lines_to_bf16x3, where six products of bf16 take longer than one of f32.
  void (*to_bf16x3)(const float* x, const float* y, i64 step, i64 n, Word* to, i64 part) = nullptr;
  /// The same of two lines of 32 weights (the second one null: zeros), which become 32 words of two.
  void (*lines_to_bf16x3)(const float* even, const float* odd, Word* to, i64 part) = nullptr;
  /// Null as to_bf16x3.
  void (*bf16x3_rows)(const Bf16x3Rows& rows) = nullptr;
  /// Pixels of 16 channels become those of 64: y = round(x·by + plus) within 0 … max_level, by channel.
  void (*sixteen_to_u8)(const float* x, const float* by, const float* plus, float max_level, std::uint8_t* y,
                        i64 pixels);
  /// And back: y = low + scale·x.
  void (*sixteen_from_u8)(const std::uint8_t* x, const float* low, const float* scale, float* y, i64 pixels);
  void (*u8_finish_aside)(const U8Aside& aside, i64 pixels);
};

extern const NarrowTable kNarrowBaseTable;
#if defined(__x86_64__)
extern const NarrowTable kNarrowAvx2Table, kNarrowVnniTable, kNarrowAvx512Table, kNarrowAmxTable;
#endif

/// The loops in use, of the same instruction set as isa(). Those of AVX-512 want VNNI and BF16, too; a machine with
/// VNNI alone has loops of its own, one without takes those of AVX2. Those of AMX are the best.
const NarrowTable& narrow_isa();

/// Whether the processor has AMX, and Linux, which must be asked for the place of its registers, lets this process use
/// them.
bool has_tiles();

}  // namespace ovir::fast
