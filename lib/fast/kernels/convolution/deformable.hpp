// Deformable convolution: what the taps see is interpolated for some output pixels, then multiplied by packed filters.
#pragma once
#include "base/int.hpp"
#include "fast/kernels/convolution/shape.hpp"

namespace ovir::fast {

struct DeformableShape {
  ConvolutionShape plane;  ///< `groups` are those of the filters
  i64 deformable_groups = 1;
  bool padded = false;  ///< with zeros around the plane, between which and the plane is interpolated, too

  /// Of a sum: taps, and channels of a group.
  i64 depth() const { return plane.taps() * plane.group_channels(); }
  /// What the product gives a pixel: whole blocks.
  i64 out_row() const { return round_up(plane.outputs, kBlock); }
};

struct DeformableData {
  const float* x;  ///< plain, or blocked: whole blocks
  bool blocked_in;
  const float *offsets, *mask;  ///< plain; mask may be null
  const float* filters;         ///< as pack_deformable() leaves them
  float* y;
  bool blocked_out;
};

/// Floats of packed filters, and of what packing them takes.
i64 deformable_filters_size(const DeformableShape& shape);
i64 deformable_packing_size(const DeformableShape& shape);
void pack_deformable(const DeformableShape& shape, const float* filters, float* work, float* to, ThreadPool& pool);

/// Floats of scratch memory.
i64 deformable_scratch_size(const DeformableShape& shape, int threads);
/// A residual, where there is one, is plain, as y then is.
void deformable_convolution(const DeformableShape& shape, const DeformableData& data, const Epilogue& epilogue,
                            float* scratch, ThreadPool& pool);

}  // namespace ovir::fast
