// Regions of feature maps pooled to bins that are shifted.
#pragma once
#include "op/kit/region_pooling.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// Maps are [image][output_dim][group_size][group_size][height][width].
struct DeformableRegions {
  const DeformablePsroiPoolingAttrs& attrs;
  i64 regions, height, width;
  i64 offset_channels;   ///< 0: no offsets
  const i64* image;      ///< of each region; below 0: of none, all its bins are 0
  const float* rois;     ///< [region][5]
  const float* offsets;  ///< [region][offset_channels][part_size][part_size]
};

/// The most points of a bin in each direction.
inline constexpr i64 kMostDeformablePoints = 16;

/// `bins`: [region][output_dim][group_size][group_size].
void pool_deformable(const DeformableRegions& what, const float* maps, float* bins, ThreadPool& pool);

}  // namespace ovir::fast
