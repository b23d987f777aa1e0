// What a direct convolution computes at a time: all outputs, or, transposed, those of a phase of the stride.
#pragma once
#include <array>

#include "fast/kernels/convolution/shape.hpp"

namespace ovir::fast {

/// The longest stride of a transposed convolution.
inline constexpr i64 kMaxStride = 64;

/// Some outputs of a convolution: pixel (y, x) of out_rows × out_columns is written to (y·out_stride_y + out_y, …) and
/// sums the taps at input (y·stride_y + dy, x·stride_x + dx).
struct Phase {
  i64 out_y = 0, out_x = 0, out_stride_y = 1, out_stride_x = 1, out_rows = 0, out_columns = 0;
  i64 stride_y = 1, stride_x = 1;
  std::array<i64, kMaxTaps> dy, dx;
  i64 taps = 0;
  i64 first_tap = 0;  ///< of the packed filters

  // Rows and columns that are read around the input.
  i64 top = 0, bottom = 0, left = 0, right = 0;
  i64 padded_width = 0;
  i64 lowest = 0;  ///< of dy: the largest

  void finish(const ConvolutionShape& s);
  /// Reads what was padded for all phases.
  void pad_as(const Phase& all) {
    top = all.top;
    left = all.left;
    padded_width = all.padded_width;
  }
  /// A phase without taps reads nothing.
  bool is_padded() const { return taps > 0 && (top > 0 || bottom > 0 || left > 0 || right > 0); }
  /// Padded rows that so many output rows read.
  i64 rows_read(i64 rows) const { return (rows - 1) * stride_y + reach(); }
  i64 reach() const { return lowest + top + 1; }
  i64 tiles_of_row() const { return ceil_div(out_columns, isa().pixels); }
  i64 tiles() const { return out_rows * tiles_of_row(); }
};

Phase forward(const ConvolutionShape& shape);

/// Taps of one axis that reach padded output `place` + n·stride: those with place - tap·dilation divisible by stride.
bool reaches(i64 place, i64 tap, i64 dilation, i64 stride);

/// Phase (y, x) of a transposed convolution. Packed filters hold the taps of all phases one after another, first those
/// that reach padded output 0: they are the same for all pads, which may follow from the sizes of the data.
Phase backward(const ConvolutionShape& shape, i64 y, i64 x);

/// What all phases read around the input, and the rows and columns of the largest.
Phase all_phases(const ConvolutionShape& shape);

/// Bands of output rows: no more rows than their padded input may take, and no fewer than make up for the rows that
/// two bands copy. A multiple of 4, for threads to end together.
struct Bands {
  static constexpr i64 kFloats = 64 << 10;  // of padded rows, a quarter of the cache

  i64 rows, count;
  Bands(const Phase& p, i64 blocks) : rows(std::max<i64>(p.out_rows, 1)) {
    const auto fits = (kFloats / (blocks * p.padded_width * kBlock) - p.reach()) / p.stride_y + 1;
    const auto least = std::max({ceil_div(rows, 16), p.reach(), i64{4}});
    count = std::min(rows, round_up(ceil_div(rows, std::clamp<i64>(fits, 1, least)), 4));
  }
  i64 most_rows() const { return ceil_div(rows, count); }
  Part band(i64 i) const { return {i * rows / count, (i + 1) * rows / count}; }
};

/// The same of a single row: bands of its columns.
struct ColumnBands {
  i64 columns, reach, stride, count;
  ColumnBands(const Phase& p, i64 blocks) : columns(std::max<i64>(p.out_columns, 1)), stride(p.stride_x) {
    reach = p.left + *std::max_element(p.dx.begin(), p.dx.begin() + p.taps) + 1;
    const auto fits = (Bands::kFloats / (blocks * kBlock) - reach) / stride + 1;
    const auto least = std::max({ceil_div(columns, 16), reach, i64{10 * isa().pixels}});
    count = std::min(columns, round_up(ceil_div(columns, std::clamp<i64>(fits, 1, least)), 4));
  }
  Part band(i64 i) const { return {i * columns / count, (i + 1) * columns / count}; }
  /// Padded columns that so many output columns read.
  i64 read(i64 n) const { return (n - 1) * stride + reach; }
  i64 most_read() const { return read(ceil_div(columns, count)); }
};

}  // namespace ovir::fast
