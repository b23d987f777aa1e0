// Convolution of plain planes ([channels][height][width]) into Layout::blocked: the first layer of a network, whose few
// channels would leave most of a block empty. One group.
#pragma once
#include "base/int.hpp"
#include "fast/kernels/convolution/shape.hpp"

namespace ovir::fast {

i64 planar_filters_size(const ConvolutionShape& shape);
/// Packs filters [outputs][channels][taps].
void planar_pack(const ConvolutionShape& shape, const float* filters, float* to, ThreadPool& pool);
i64 planar_scratch_size(const ConvolutionShape& shape, int threads);
/// The most channels × kernel rows (or taps, where the kernel is dilated along a row).
inline constexpr i64 kMaxPlanarTaps = 256;
i64 planar_taps(const ConvolutionShape& shape);
void planar_convolution(const ConvolutionShape& shape, const float* filters, const float* in, float* out,
                        const Epilogue& epilogue, float* scratch, ThreadPool& pool);

}  // namespace ovir::fast
