// Maximum and average pooling on Layout::blocked.
#pragma once
#include "base/int.hpp"
#include "fast/kernels/convolution/shape.hpp"

namespace ovir::fast {

/// The most values of a window.
inline constexpr i64 kMaxPoolTaps = 1024;

/// `shape` as of a depthwise convolution: channels, planes, kernel, strides, dilations, pads.
/// The maximum over what of the window lies within the plane.
void max_pool(const ConvolutionShape& shape, const float* in, float* out, ThreadPool& pool);
/// The sum over that, divided by its number of values, or by the window's within the padded plane where
/// `counts_padding` (which pads at the end limit).
void average_pool(const ConvolutionShape& shape, i64 pad_bottom, i64 pad_right, bool counts_padding, const float* in,
                  float* out, ThreadPool& pool);

}  // namespace ovir::fast
