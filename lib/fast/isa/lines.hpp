// Innermost loops of operations on lines, compiled for AVX2 and for any machine: selection of the best of many,
// Fourier transforms, samples, products, LRN, truncation, pixels of few numbers.
#pragma once
#include <cstdint>

#include "base/int.hpp"
#include "fast/isa/whole.hpp"

namespace ovir::fast {

/// Columns that are ranked together.
inline constexpr i64 kRankColumns = 64;
/// The most that are kept of each.
inline constexpr int kMostKept = 8;

/// Lines that are transformed together. A complex number of each is a row of as many real parts, then a row of as many
/// imaginary ones.
inline constexpr i64 kFourierLines = 16;
/// Of numbers x[t][p][q] sums over t < radix: y[p][j][q] = w[p][j] · the sum of x[t][p][q] · root[j·t % radix].
struct FourierStep {
  i64 radix, p, q;
  const float* w;     ///< complex, [p][j - 1]: those of j = 0 are 1, and so are all of p = 0
  const float* root;  ///< complex, [radix]; of radix 2 and 4 null
};

/// Boxes whose numbers lie side by side.
inline constexpr i64 kTile = 16;

/// What a sample has where it wants a pixel that lies beyond the image: nothing, the outermost one, or one of the image
/// mirrored at the centers or at the edges of the outermost ones.
enum class BeyondImage : std::uint8_t { zeros, border, centers, edges };
/// An axis of an image, and how the coordinate of a point becomes a pixel's number: (coordinate + 1) · scale + shift.
struct SampledAxis {
  double scale, shift;
  std::int32_t length;  ///< below 2^30
  BeyondImage beyond;
};
/// The pixels that n samples are made of, rows `step` apart: each one's number in its image of less than 2^31 pixels,
/// its weight, and all bits, or 0 where it lies beside the image and counts as 0. There is room for a multiple of four.
struct SampledPixels {
  std::int32_t* number;
  float* weight;
  std::uint32_t* mask;
  i64 step;
};

struct LineTable {
  // Ranks are integers, the lower the better; of equal ones the first is the better.
  /// to[i] = the rank of x[i], where the largest or the smallest are wanted. NaN is larger than every number, -0 is 0.
  void (*rank)(const float* x, bool largest, std::int32_t* to, i64 n);
  /// The first of [i, n) whose rank is below the bound; n where there is none.
  i64 (*below)(const std::int32_t* ranks, i64 i, i64 n, std::int32_t bound);
  /// Of each of `columns` columns best[0], best[1], … are the best k ranks of rows 0 … first - 1, in order, and at[]
  /// their rows; rows first … first + rows - 1 join them. All rows are kRankColumns apart; k <= kMostKept,
  /// and what is beyond the last column, up to a multiple of 8, may hold anything.
  void (*keep)(const std::int32_t* ranks, i64 rows, std::int32_t first, int k, std::int32_t* best, std::int32_t* at,
               i64 columns);

  void (*fourier)(const FourierStep& step, const float* x, float* y);

  /// Whether a box overlaps one of n others by more than `most`, of what they cover together. A box is y1, x1, y2, x2
  /// and its area; numbers of the others are `step` apart. Boxes of no area overlap none.
  bool (*overlaps)(const float* box, const float* others, i64 step, i64 n, float most);

  /// Of kTile boxes: rows of x1, y1, x2, y2, area and a threshold. Whether one of them overlaps a box, which is its own
  /// first five numbers, by more than its threshold, as MulticlassNms has it. `pixel`: what is added to lengths.
  bool (*covered)(const float* box, const float* tile, float pixel);
  /// Of kTile boxes that are better than this one, as MatrixNms has it: raises most[] to how much they overlap it and
  /// lowers least[] to (1 - that) / own or, gaussian, own - its square. `own` is the last row of the tile.
  void (*decay)(const float* box, const float* tile, float pixel, bool gaussian, float* most, float* least);

  /// A sample between four pixels, c < n: it is added to to[c], or stays there where it is the largest.
  void (*sample)(const float* const* pixels, const float* weights, bool largest, float* to, i64 n);

  /// Of n points (x, y) of a grid, by 1, 2 (bilinear) or 4 (bicubic) pixels along each axis, row by row. Coordinates
  /// that are not finite are those of a point before the first pixel. Computed in double precision.
  void (*grid_pixels)(const SampledAxis& x, const SampledAxis& y, int taps, const float* grid, i64 n,
                      const SampledPixels& to);
  /// y[p] = the sum over t < taps of weight[t][p] · x[number[t][p]].
  void (*sum_pixels)(const SampledPixels& of, i64 taps, const float* x, float* y, i64 n);

  /// to[c] becomes that times all x[r·step + c], r < rows.
  void (*multiply)(const float* x, i64 step, i64 rows, double* to, i64 columns);
  /// y = x / (sum · scale + bias)^0.75; the sum is not written over.
  void (*respond)(const float* x, const float* sum, float scale, float bias, float* y, i64 n);

  /// y[i] = x[i] without what is behind the point, modulo 2^bits, as integers of so many bytes; false, and nothing is
  /// written, where one is not within ±2^31.
  bool (*truncate)(const float* x, int bytes, void* y, i64 n);
  void (*floats_of_bytes)(const std::uint8_t* x, float* y, i64 n);

  // Of n pixels of `few` numbers, 2 to 4.
  /// y[c·line + p] = x[p·few + c]
  void (*split)(int few, const float* x, float* y, i64 line, i64 n);
  /// y[p·few + c] = x[c·line + p]
  void (*join)(int few, const float* x, i64 line, float* y, i64 n);
  void (*split_bytes)(int few, const std::uint8_t* x, std::uint8_t* y, i64 line, i64 n);
  void (*join_bytes)(int few, const std::uint8_t* x, i64 line, std::uint8_t* y, i64 n);
  /// y[p·few + c] = x[p·few + order[c]]; y lies elsewhere.
  void (*reorder)(int few, const i64* order, const float* x, float* y, i64 n);
  void (*reorder_bytes)(int few, const i64* order, const std::uint8_t* x, std::uint8_t* y, i64 n);

  // Filters along an axis of an image.
  /// to[i] = the sum of w[t] · rows[t][i] over t < count, added to to[i] unless `first`.
  void (*add_byte_rows)(const double* w, const std::uint8_t* const* rows, i64 count, double* to, i64 n, bool first);
  /// Of n pixels of `inner` numbers: y[k·inner + i] = the sum over t < count of w[k·count + t] · number i of pixel
  /// index[k·count + t] of x
  void (*add_pixels)(const i64* index, const float* w, i64 count, i64 inner, const float* x, float* y, i64 n);
  void (*add_wide_pixels)(const i64* index, const double* w, i64 count, i64 inner, const double* x, double* y, i64 n);
  /// To the nearest, halves away from 0.
  void (*to_bytes)(const double* x, std::uint8_t* y, i64 n);

  // Random numbers, as RandomUniform has them.
  /// Blocks first … first + blocks - 1 of four words each, as op/kit/random.hpp has them.
  void (*philox)(std::uint64_t key, std::uint64_t counter, std::uint64_t first, std::uint32_t* words, i64 blocks);
  /// Of f32, from a word each: range of them above the least one.
  void (*uniform)(const std::uint32_t* words, float range, float least, float* y, i64 n);

  // Integers (whole.hpp).
  /// y[i] = f(a[i·a_step], b[i·b_step]), steps being 0 or 1: integers of the same type, or bytes, of comparisons. In
  /// place is allowed.
  void (*whole)(Whole f, WholeType type, const void* a, i64 a_step, const void* b, i64 b_step, void* y, i64 n);
  /// y[c] becomes that and all x[r·step + c], r < rows, joined; not the mean, nor of booleans.
  void (*whole_columns)(Fold f, WholeType type, const void* x, i64 step, i64 rows, void* y, i64 columns);
  /// y[0] = the n integers of x, joined, alike.
  void (*whole_row)(Fold f, WholeType type, const void* x, i64 n, void* y);
  /// to[c] = the sum of x[r·step + c] over r < rows, in 64 bits.
  void (*whole_sums)(WholeType type, const void* x, i64 step, i64 rows, i64* to, i64 columns);
  /// The sum of n integers, in 64 bits.
  i64 (*whole_sum)(WholeType type, const void* x, i64 n);
};

extern const LineTable kLinesBaseTable;
#if defined(__x86_64__)
extern const LineTable kLinesAvx2Table;
#endif

/// Those of isa().
const LineTable& line_isa();

}  // namespace ovir::fast
