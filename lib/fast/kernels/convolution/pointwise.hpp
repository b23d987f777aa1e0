// 1×1 convolution of stride 1 on Layout::blocked: a product of the pixels by the filters.
#pragma once
#include "fast/kernels/convolution/shape.hpp"
#include "fast/kernels/weights.hpp"

namespace ovir::fast {

/// Filters are packed by direct_pack(); no scratch memory is needed.
void pointwise_convolution(const ConvolutionShape& shape, const float* filters, const float* in, float* out,
                           const Epilogue& epilogue, ThreadPool& pool);

/// Pixels, neighbors in a plane if not said otherwise, by one panel of packed filters, in the caller's thread.
struct PixelRun {
  const float* in;  ///< the first pixel
  i64 in_block;     ///< floats between blocks
  i64 channels, pixels;
  float* out;
  i64 out_block;
  const float* residual = nullptr;              ///< laid out as `out`
  i64 in_pixel = kBlock, out_pixel = in_pixel;  ///< floats between pixels
};
/// `column` is the panel's first; it has `outputs`.
void pointwise_run(const PixelRun& run, const float* weights, i64 column, i64 outputs, const Epilogue& epilogue,
                   Ahead* ahead);

/// Whether filters that are needed once had better be packed panel by panel, each right before it is used: where the
/// panels are many enough to share out the work, and the input stays in the cache meanwhile.
bool pointwise_packs_by_panels(const ConvolutionShape& shape);
i64 pointwise_once_scratch_size(const ConvolutionShape& shape, int threads);
/// Filters [outputs][channels of a group]; weights.room is not used.
void pointwise_convolution_once(const ConvolutionShape& shape, const Weights& filters, const float* in, float* out,
                                const Epilogue& epilogue, float* scratch, ThreadPool& pool);

}  // namespace ovir::fast
