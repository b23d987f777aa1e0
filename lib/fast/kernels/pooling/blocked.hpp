// Maximum and average pooling on Layout::blocked.
#pragma once
#include "base/int.hpp"
#include "fast/isa/narrow.hpp"
#include "fast/kernels/convolution/shape.hpp"

namespace ovir::fast {

/// The most values of a window.
inline constexpr i64 kMaxPoolTaps = 1024;

/// The innermost loop, and the channels of a block of what it pools: f32 has 16, narrower types have more in the same
/// 64 bytes, to which the pointers then point.
struct PoolLoop {
  void (*row)(const PoolRow& row) = isa().pool;
  void (*band)(const PoolBand& band) = isa().pool_band;  ///< null: none
  i64 channels = kBlock;
};
/// Maxima alone.
inline PoolLoop u8_pool() { return {narrow_isa().u8_pool, nullptr, 4 * kBlock}; }
inline PoolLoop bf16_pool() { return {narrow_isa().bf16_pool, nullptr, 2 * kBlock}; }

/// `shape` as of a depthwise convolution: channels, planes, kernel, strides, dilations, pads.
/// The maximum over what of the window lies within the plane.
void max_pool(const ConvolutionShape& shape, const float* in, float* out, ThreadPool& pool, PoolLoop loop = {});
/// The sum over that, divided by its number of values, or by the window's within the padded plane where
/// `counts_padding` (which pads at the end limit).
void average_pool(const ConvolutionShape& shape, i64 pad_bottom, i64 pad_right, bool counts_padding, const float* in,
                  float* out, ThreadPool& pool, PoolLoop loop = {});

}  // namespace ovir::fast
