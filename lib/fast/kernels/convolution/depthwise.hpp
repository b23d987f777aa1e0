// Depthwise convolution (as many groups as channels, of one output each or several) on Layout::blocked, and that of
// groups of which a block holds some.
#pragma once
#include "base/int.hpp"
#include "fast/kernels/convolution/shape.hpp"
#include "fast/kernels/convolution/volume.hpp"

namespace ovir::fast {

/// The most taps of a plane that depthwise_convolution() takes: 32 × 32.
inline constexpr i64 kMaxDepthwiseTaps = 1024;

/// Whether it takes convolutions of several channels a group: of 4 or 8 and as many outputs, by kernels of 3 or 5
/// columns side by side and a stride of 1 or 2 along a row.
bool groups_slide(const ConvolutionShape& shape);

i64 depthwise_filters_size(const ConvolutionShape& shape);
/// Filters [outputs][channels of a group][taps] become [block][channel of a group][tap][16].
void depthwise_pack(const ConvolutionShape& shape, const float* filters, float* to);
i64 depthwise_scratch_size(const ConvolutionShape& shape, int threads);
void depthwise_convolution(const ConvolutionShape& shape, const float* filters, const float* in, float* out,
                           const Epilogue& epilogue, float* scratch, ThreadPool& pool);

/// The same of volumes, with one output a channel: the planes of the kernel that are not padding are added up one after
/// the other. `out` may be the residual unless that is added last.
i64 depthwise_volume_filters_size(const VolumeShape& shape);
/// Packs filters [outputs][1][kernel_planes][taps].
void depthwise_volume_pack(const VolumeShape& shape, const float* filters, float* to);
void depthwise_volume(const VolumeShape& shape, const float* filters, const float* in, float* out,
                      const Epilogue& epilogue, ThreadPool& pool);

/// Whether depthwise_rows() takes such kernels: of 3, 5 or 7 columns side by side.
bool depthwise_slides(const ConvolutionShape& shape);
/// The rows of a block that are there: row y of the plane is number y % count.
struct DepthwiseRing {
  const float* rows;
  i64 count;
};
/// Output rows of one block of an image, in the caller's thread: `filters` are the block's, `channel` is its first;
/// they are stored from `out` on.
void depthwise_rows(const ConvolutionShape& shape, const float* filters, const DepthwiseRing& in, float* out,
                    const Epilogue& epilogue, i64 channel, Part rows);

}  // namespace ovir::fast
