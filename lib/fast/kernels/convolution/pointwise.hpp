// 1×1 convolution of stride 1 on Layout::blocked: a product of the pixels by the filters.
#pragma once
#include "fast/kernels/convolution/shape.hpp"

namespace ovir::fast {

/// Filters are packed by direct_pack(); no scratch memory is needed.
void pointwise_convolution(const ConvolutionShape& shape, const float* filters, const float* in, float* out,
                           const Epilogue& epilogue, ThreadPool& pool);

}  // namespace ovir::fast
