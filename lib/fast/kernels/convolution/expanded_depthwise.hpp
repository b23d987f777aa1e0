// A depthwise convolution of what a pointwise one gives: each thread expands some rows of a few channels, which stay in
// its cache until they are filtered.
#pragma once
#include "fast/kernels/convolution/shape.hpp"

namespace ovir::fast {

struct ExpandedDepthwise {
  /// The second shape's input is the first one's output; `threads` will share the work.
  ExpandedDepthwise(const ConvolutionShape& expansion, const ConvolutionShape& depthwise, int threads);

  ConvolutionShape expansion, depthwise;
  i64 panels;  ///< of 32 channels
  i64 bands;   ///< of output rows

  /// Input rows that so many output rows read.
  i64 rows_read(i64 rows) const {
    return (rows - 1) * depthwise.stride_y + (depthwise.kernel_height - 1) * depthwise.dilation_y + 1;
  }
  /// Floats of a block that is expanded.
  i64 expanded_size() const {
    return std::min(depthwise.height, rows_read(ceil_div(depthwise.out_height, bands))) * depthwise.width * kBlock;
  }
  i64 scratch_size(int threads) const { return threads * (kColumns / kBlock) * expanded_size(); }
};

/// Whether it takes less time than one after the other.
bool expanded_depthwise_pays(const ConvolutionShape& expansion, const ConvolutionShape& depthwise);

/// Filters are packed as for pointwise_convolution() and depthwise_convolution(), whose bits these are. Neither adds a
/// residual.
void expanded_depthwise(const ExpandedDepthwise& what, const float* expand_filters, const Epilogue& expand_epilogue,
                        const float* filters, const Epilogue& epilogue, const float* in, float* out, float* scratch,
                        ThreadPool& pool);

}  // namespace ovir::fast
