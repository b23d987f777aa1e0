// Convolution of plain planes ([channels][height][width]) into Layout::blocked: the first layer of a network, whose few
// channels would leave most of a block empty. One group.
#pragma once
#include "base/int.hpp"
#include "fast/kernels/convolution/shape.hpp"
#include "fast/kernels/convolution/volume.hpp"

namespace ovir::fast {

/// Few channels: most of a block would be empty.
inline constexpr i64 kFewChannels = 8;

i64 planar_filters_size(const ConvolutionShape& shape);
/// Packs filters [outputs][channels][taps].
void planar_pack(const ConvolutionShape& shape, const float* filters, float* to, ThreadPool& pool);
i64 planar_scratch_size(const ConvolutionShape& shape, int threads);
/// The most channels × kernel rows (or taps, where the kernel is dilated along a row).
inline constexpr i64 kMaxPlanarTaps = 256;
i64 planar_taps(const ConvolutionShape& shape);
void planar_convolution(const ConvolutionShape& shape, const float* filters, const float* in, float* out,
                        const Epilogue& epilogue, float* scratch, ThreadPool& pool);

/// A slice of plain volumes ([channels][slices][height][width]) as planar convolutions see it: the planes of the kernel
/// are channels, by whose sizes filters are packed and scratch memory is given.
ConvolutionShape planar_slice(const VolumeShape& shape);
/// All planes of the kernel are used.
void planar_volume(const VolumeShape& shape, const float* filters, const float* in, float* out,
                   const Epilogue& epilogue, float* scratch, ThreadPool& pool);

/// A part of the output of one image.
struct PlanarRows {
  Part rows, columns;
  i64 first_panel, last_panel;  ///< of 32 channels
};
/// Floats of `room` for so many whole rows.
i64 planar_room_size(const ConvolutionShape& shape, i64 rows);
/// In the caller's thread: `out` and `residual` are where the first row of the first panel begins.
void planar_rows(const ConvolutionShape& shape, const float* filters, const float* in, const PlanarRows& part,
                 float* out, i64 out_block, const Epilogue& epilogue, const float* residual, float* room);

}  // namespace ovir::fast
