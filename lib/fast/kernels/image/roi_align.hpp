// Regions of feature maps resampled to bins.
#pragma once
#include <cstdint>

#include "base/int.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// A region in pixels of the image that it is of, with so many samples in each direction of a bin.
struct Region {
  i64 image;
  float x, y, bin_width, bin_height;
  i64 columns, rows;
};

/// Maps are [image][channels][height][width], bins [region][channels][bin_rows][bin_columns]. The mean of a bin's
/// samples, or the largest, where that is above 0.
struct RoiAligning {
  i64 images, regions, channels, height, width, bin_rows, bin_columns;
  bool largest;
};

/// `scratch`: of roi_align_scratch_size() floats, for `images` maps.
void roi_align(const RoiAligning& what, const Region* regions, const float* maps, float* bins, float* scratch,
               ThreadPool& pool);
i64 roi_align_scratch_size(const RoiAligning& what);

}  // namespace ovir::fast
