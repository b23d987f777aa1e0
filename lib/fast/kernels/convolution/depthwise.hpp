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

}  // namespace ovir::fast
