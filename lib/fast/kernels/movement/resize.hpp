// Interpolate on Layout::blocked: nearest and linear along the two spatial axes.
#pragma once
#include "base/int.hpp"
#include "fast/kernels/convolution/shape.hpp"

namespace ovir::fast {

/// What an output coordinate reads of an axis: (1 - weight) · input[first] + weight · input[second].
struct AxisSource {
  i64 first, second;
  float weight;
};

/// `rows` and `columns`: by output coordinate. in: [planes][height][width][16].
void resize_blocked(const float* in, float* out, i64 planes, i64 height, i64 width, const AxisSource* rows,
                    i64 out_height, const AxisSource* columns, i64 out_width, bool nearest, ThreadPool& pool);

}  // namespace ovir::fast
