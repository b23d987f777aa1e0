// An expansion (a pointwise convolution, or one of an image), a depthwise convolution of its output and a pointwise
// projection of that. Large planes in one pass, some rows at a time, so that what lies between stays in the cache. Of
// small ones a thread expands and filters channels of its own, which are then projected.
#pragma once
#include <functional>

#include "fast/kernels/convolution/narrow.hpp"

namespace ovir::fast {

struct InvertedResidual {
  /// Each shape's input is the output of the one before; `threads` that will share the rows.
  InvertedResidual(const ConvolutionShape& expansion, const ConvolutionShape& depthwise,
                   const ConvolutionShape& projection, i64 lanes, int threads);

  ConvolutionShape expansion, depthwise;
  NarrowGeometry expand, project;
  i64 hidden;    ///< blocks of channels between
  i64 width;     ///< of the padded rows that the depthwise convolution reads
  bool by_rows;  ///< planes are large
  bool aside;    ///< rows are so short that a plane is expanded as one run of pixels, then padded
  i64 bands;     ///< parts of an image; else of a block that is shared, because there is none left for each thread
  /// Output rows of a band, at most, and input rows that they read.
  i64 rows() const { return by_rows ? ceil_div(depthwise.out_height, bands) : depthwise.out_height; }
  i64 rows_read() const { return read(rows()); }
  i64 read(i64 rows) const {
    return (rows - 1) * depthwise.stride_y + (depthwise.kernel_height - 1) * depthwise.dilation_y + 1;
  }
  i64 expanded_size() const { return rows_read() * width * kBlock; }
  /// Words between blocks; of bands not a multiple of a page, or lines would fall together.
  i64 filtered_step() const { return (rows() * depthwise.out_width + (by_rows ? 1 : 0)) * kBlock; }
  /// Of a thread.
  i64 slot_size() const {
    return expanded_size() + (by_rows ? hidden * filtered_step() : (aside ? depthwise.plane() * kBlock : 0));
  }
  i64 scratch_size(int threads) const {
    return threads * slot_size() + (by_rows ? 0 : depthwise.batch * hidden * filtered_step());
  }
};

struct InvertedResidualWork {
  /// Pixels by the columns of a panel, stored from `to` on, 16 words a pixel.
  std::function<void(const NarrowSum& sum, int pixels, i64 panel, Word* to)> expand;
  /// Rows of one block, 16 words a pixel.
  std::function<void(const NarrowRows& rows, Word* to)> filter;
  NarrowTileWork project;
};

/// `in`: blocked, or, of an image, its padded rows. `pads` surround what is expanded.
void inverted_residual(const InvertedResidual& geometry, const Word* expand_filters, const Word* project_filters,
                       const Word* in, const NarrowPads& pads, Word* scratch, ThreadPool& pool,
                       const InvertedResidualWork& work);

}  // namespace ovir::fast
