// Depthwise convolution (as many groups as channels and outputs) on Layout::blocked.
#pragma once
#include "base/int.hpp"
#include "fast/kernels/convolution/shape.hpp"

namespace ovir::fast {

i64 depthwise_filters_size(const ConvolutionShape& shape);
/// Filters [channels][taps] become [block][tap][16].
void depthwise_pack(const ConvolutionShape& shape, const float* filters, float* to);
i64 depthwise_scratch_size(const ConvolutionShape& shape, int threads);
void depthwise_convolution(const ConvolutionShape& shape, const float* filters, const float* in, float* out,
                           const Epilogue& epilogue, float* scratch, ThreadPool& pool);

/// Whether depthwise_block() takes such kernels: of 3, 5 or 7 columns side by side.
bool depthwise_slides(const ConvolutionShape& shape);
/// One block of one image, in this thread: `filters`, `in` and `out` are the block's, `channel` is its first.
void depthwise_block(const ConvolutionShape& shape, const float* filters, const float* in, float* out,
                     const Epilogue& epilogue, i64 channel);

}  // namespace ovir::fast
