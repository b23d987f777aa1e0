// Convolution of one group on Layout::blocked whose taps lie far apart, so that many fall beside the plane (dilations of
// 12 to 36 on planes of 28 pixels a side): each tap by itself adds to the pixels that it has in the plane.
#pragma once
#include "fast/kernels/convolution/shape.hpp"

namespace ovir::fast {

/// Whether so many taps fall beside the plane that to leave them out pays.
bool clipped_pays(const ConvolutionShape& shape);
i64 clipped_filters_size(const ConvolutionShape& shape);
/// Packs filters [outputs][channels][taps].
void clipped_pack(const ConvolutionShape& shape, const float* filters, float* to, ThreadPool& pool);
/// in: [batch][blocks of channels][height][width][16], out alike.
void clipped_convolution(const ConvolutionShape& shape, const float* filters, const float* in, float* out,
                         const Epilogue& epilogue, ThreadPool& pool);

}  // namespace ovir::fast
