// Convolution of three spatial axes and one group on Layout::blocked, [batch][blocks][slices][height][width][16]: each
// output slice is one sum over the planes of the kernel that do not lie in the padding.
#pragma once
#include "base/int.hpp"
#include "fast/kernels/convolution/shape.hpp"
#include "fast/kernels/weights.hpp"

namespace ovir::fast {

/// Sizes of a convolution of three spatial axes, or of images, which are then slices.
struct VolumeShape {
  ConvolutionShape slice;                 ///< of the last two axes; its batch is that of the volumes
  i64 slices = 1, out_slices = 1;         ///< along the first axis
  i64 planes = 1, first_plane = 0;        ///< of the kernel: those that are used
  i64 kernel_planes = 1;                  ///< those that filters have
  i64 stride = 1, dilation = 1, pad = 0;  ///< along the first axis, `pad` before the first plane that is used

  bool of_images = false;  ///< slices are images: each has its blocks together

  VolumeShape() = default;
  /// Of images, or of volumes as one plane each (ConvolutionShape::slices).
  // NOLINTNEXTLINE(google-explicit-constructor): kernels of volumes take images, too
  VolumeShape(const ConvolutionShape& shape);

  /// Floats between blocks of channels and slices.
  i64 in_block() const { return (of_images ? 1 : slices) * slice.plane() * kBlock; }
  i64 in_slice() const { return (of_images ? blocks_of(slice.channels) : 1) * slice.plane() * kBlock; }
  i64 out_block() const { return (of_images ? 1 : out_slices) * slice.out_plane() * kBlock; }
  i64 out_slice() const { return (of_images ? blocks_of(slice.outputs) : 1) * slice.out_plane() * kBlock; }

  /// Planes of those used whose input slice, for this output slice, is none of the padding; from 0 on where there are
  /// none.
  Part inside(i64 out_slice) const;
  /// The input slice that a plane meets.
  i64 slice_of(i64 out_slice, i64 plane) const { return out_slice * stride + plane * dilation - pad; }
  /// The same convolution without planes at the ends of the kernel that meet nothing but padding.
  VolumeShape trimmed() const;
  /// The same with one row a slice, or one slice, where neighboring pixels are read alike.
  VolumeShape folded() const;

  /// One of single values along the first axis as an image, whose rows are the slices; others as they are.
  VolumeShape rows() const;

  i64 volume() const { return slices * slice.plane(); }
  i64 out_volume() const { return out_slices * slice.out_plane(); }
  /// Floats of a filter as the model has it.
  i64 filter_floats() const { return slice.channels * kernel_planes * slice.taps(); }
  /// Of the packed filters: steps of the sum.
  i64 steps() const { return planes * blocks_of(slice.channels) * kBlock * slice.taps(); }
  double multiplications() const { return slice.multiplications() * static_cast<double>(planes * out_slices); }
};

/// As that of a ConvolutionShape, for volumes.
void clear_padding(const VolumeShape& shape, const Unary& activation, float* out);

/// Whether direct_volume() has room for the taps.
bool volume_fits(const VolumeShape& shape);
/// Floats of the packed filters.
i64 volume_filters_size(const VolumeShape& shape);
/// Packs filters [outputs][channels][kernel_planes][taps]. `weights.room` is of sixteen filters for each thread.
void volume_pack(const VolumeShape& shape, const Weights& weights, float* to, ThreadPool& pool);
i64 volume_scratch_size(const VolumeShape& shape, int threads);
void direct_volume(const VolumeShape& shape, const float* filters, const float* in, float* out,
                   const Epilogue& epilogue, float* scratch, ThreadPool& pool);

/// Whether filters that are needed once had better be packed panel by panel, each right before it is used.
bool volume_packs_by_panels(const VolumeShape& shape);
i64 volume_once_scratch_size(const VolumeShape& shape, int threads);
/// `weights.room` is not used.
void direct_volume_once(const VolumeShape& shape, const Weights& weights, const float* in, float* out,
                        const Epilogue& epilogue, float* scratch, ThreadPool& pool);

}  // namespace ovir::fast
