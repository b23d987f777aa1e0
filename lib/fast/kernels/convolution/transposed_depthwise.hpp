// Transposed depthwise convolution on Layout::blocked: each phase of the stride is a depthwise convolution of its own.
#pragma once
#include "base/int.hpp"
#include "fast/kernels/convolution/shape.hpp"

namespace ovir::fast {

/// `filters` as depthwise_pack() leaves them.
void transposed_depthwise(const ConvolutionShape& shape, const float* filters, const float* in, float* out,
                          const Epilogue& epilogue, ThreadPool& pool);

}  // namespace ovir::fast
