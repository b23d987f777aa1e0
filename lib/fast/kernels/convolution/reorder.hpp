// Between Layout::plain and Layout::blocked, and from planes to some of their pixels.
#pragma once
#include "base/int.hpp"
#include "fast/kernels/convolution/shape.hpp"

namespace ovir::fast {

/// in: [batch][channels][slices][plane] becomes [batch][slices][blocks][plane][16], channels beyond the last one zero.
void to_blocked(const float* in, float* out, i64 batch, i64 channels, i64 plane, ThreadPool& pool, i64 slices = 1);
void to_plain(const float* in, float* out, i64 batch, i64 channels, i64 plane, ThreadPool& pool, i64 slices = 1);

/// The pixels that a convolution reads which is_sampled(), as blocked planes of the size of its output.
void gather_pixels(const ConvolutionShape& shape, const float* in, float* out, ThreadPool& pool);

/// Rows of all channels, which fill their blocks: [batch][plane][channels] becomes blocked, or the other way.
void rows_to_blocked(const float* in, float* out, i64 batch, i64 channels, i64 plane, ThreadPool& pool);
void blocked_to_rows(const float* in, float* out, i64 batch, i64 channels, i64 plane, ThreadPool& pool);

}  // namespace ovir::fast
