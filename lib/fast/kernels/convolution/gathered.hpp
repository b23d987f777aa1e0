// The input of a convolution of small planes, copied so that the tiles of a plane need not end with its rows.
#pragma once
#include "base/thread_pool.hpp"
#include "fast/kernels/convolution/phase.hpp"

namespace ovir::fast {

/// An input laid out so that all pixels of an output plane lie side by side for each tap, as one row: [block][column of
/// the kernel][row % stride][row / stride][output column].
struct Gathered {
  i64 rows;         ///< of each residue
  i64 kernel_line;  ///< pixels that a column of the kernel reads
  i64 block;        ///< floats

  Gathered(const ConvolutionShape& s, const Phase& p)
      : rows(ceil_div(p.rows_read(p.out_rows), s.stride_y)),
        kernel_line(s.stride_y * rows * s.out_width),
        block(s.kernel_width * kernel_line * kBlock) {}

  /// Pixels before those of a tap, whose first padded row and column of the kernel these are.
  i64 offset(const ConvolutionShape& s, i64 row, i64 kernel_column) const {
    return kernel_column * kernel_line + (row % s.stride_y * rows + row / s.stride_y) * s.out_width;
  }

  Phase phase(const ConvolutionShape& shape, const Phase& phase) const;
  /// All blocks of all images.
  void copy(const ConvolutionShape& shape, const Phase& phase, const float* in, float* to, ThreadPool& pool) const;
};

/// Whether the tiles of short rows are so much smaller than those of the whole plane that gathering it pays.
bool gathers(const ConvolutionShape& shape, const Phase& phase);

}  // namespace ovir::fast
