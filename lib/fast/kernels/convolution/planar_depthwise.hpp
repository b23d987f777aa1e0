// Depthwise convolution of plain planes ([channels][height][width]) or volumes into such, for channels so few that most
// of a block of 16 would be empty, as of images that are blurred. Each channel by itself gives one output or several;
// there may be a single one, and any number of taps.
#pragma once
#include "fast/kernels/convolution/shape.hpp"
#include "fast/kernels/convolution/volume.hpp"

namespace ovir::fast {

/// Whether channels and, of a single one, outputs are few enough, and rows long enough. `open`: planes are not known.
bool planar_depthwise_pays(const ConvolutionShape& shape, bool open);
/// Filters [outputs][1][taps] are used as they are; those of volumes have taps of several planes.
i64 planar_depthwise_filters_size(const ConvolutionShape& shape);
i64 planar_depthwise_scratch_size(const ConvolutionShape& shape, int threads);
void planar_depthwise_convolution(const ConvolutionShape& shape, const float* filters, const float* in, float* out,
                                  const Epilogue& epilogue, float* scratch, ThreadPool& pool);
/// Scratch memory is that of a slice. All planes of the kernel are used.
void planar_depthwise_volume(const VolumeShape& shape, const float* filters, const float* in, float* out,
                             const Epilogue& epilogue, float* scratch, ThreadPool& pool);

}  // namespace ovir::fast
