// An image sampled at coordinates that another tensor gives.
#pragma once
#include "base/int.hpp"
#include "op/kit/image_attrs.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// Of images [batch][channels][height][width], and so many points in each.
struct GridSampling {
  i64 batch, channels, height, width, points;
  GridSampleAttrs attrs;
};

/// Whether an image has pixels, and so few that integers of 31 bits can tell them apart.
bool takes_grid_sample(const GridSampling& what);
/// `grid`: [batch][points][2], `out`: [batch][channels][points]. Weights are computed in double precision, sums in f32.
void grid_sample(const GridSampling& what, const float* x, const float* grid, float* out, float* scratch,
                 ThreadPool& pool);
/// Floats of scratch memory.
i64 grid_sample_scratch_size(const GridSampling& what);

}  // namespace ovir::fast
