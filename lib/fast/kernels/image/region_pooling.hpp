// Regions of feature maps pooled to bins.
#pragma once
#include <algorithm>
#include <cmath>

#include "base/int.hpp"
#include "op/kit/region_pooling.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// Bins are [region][channels][bin_rows][bin_columns].
struct RegionPooling {
  i64 images, regions, channels, height, width, bin_rows, bin_columns;
  /// Points of a bin, where points are taken, each of so many channels of its own.
  i64 point_rows = 1, point_columns = 1;
  i64 bins() const { return bin_rows * bin_columns; }
  i64 points() const { return point_rows * point_columns; }
};

/// What belongs to a bin is what belongs to its row and to its column.
template <class Along>
struct RegionSides {
  const i64* image;             ///< of each region; below 0: of none, all its bins are 0
  const Along *rows, *columns;  ///< [region][bin_rows], [region][bin_columns]
};

/// A point along an axis lies between two pixels, so far from the lower one. Outside of the plane it is 0.
struct AxisPoint {
  AxisPoint() = default;
  AxisPoint(float at, i64 length, bool is_inside) : inside(is_inside) {
    if (!inside) return;
    low = std::min(static_cast<i64>(at), length - 1);
    high = std::min(static_cast<i64>(std::ceil(at)), length - 1);
    part = at - static_cast<float>(low);
  }
  i64 low = 0, high = 0;
  float part = 0;
  bool inside = false;
};

/// The largest pixel of each bin, 0 where it has none. NaN is smaller than anything. Maps are
/// [image][channels][height][width].
void pool_largest(const RegionPooling& what, const RegionSides<PixelSpan>& sides, const float* maps, float* bins,
                  float* scratch, ThreadPool& pool);

/// The mean of the points of each bin. Maps are [image][point_rows][point_columns][channels][height][width], rows
/// [region][bin_rows][point_rows], columns [region][bin_columns][point_columns].
void pool_points(const RegionPooling& what, const RegionSides<AxisPoint>& sides, const float* maps, float* bins,
                 float* scratch, ThreadPool& pool);

/// Floats of `scratch`.
i64 pool_largest_scratch_size(const RegionPooling& what);
i64 pool_points_scratch_size(const RegionPooling& what);

/// The mean of the pixels of each bin, 0 where it has none, of a map of its own: maps are
/// [image][channels][bin_rows][bin_columns][height][width].
void pool_own_means(const RegionPooling& what, const RegionSides<PixelSpan>& sides, const float* maps, float* bins,
                    ThreadPool& pool);

}  // namespace ovir::fast
