// Interpolate along the two spatial axes of images: nearest and linear.
#pragma once
#include <span>

#include "base/int.hpp"
#include "base/thread_pool.hpp"

namespace ovir::fast {

/// What an output coordinate reads of an axis: (1 - weight) · input[first] + weight · input[second].
struct AxisSource {
  i64 first, second;
  float weight;
};

/// `rows` and `columns`: by output coordinate. A plane is [height][width] of so many channels each: 16 where it is
/// blocked, all where they come last.
struct Resizing {
  i64 planes, height, width;
  std::span<const AxisSource> rows, columns;
  bool nearest;
  i64 channels;
};

/// Floats of scratch memory.
i64 resize_scratch_size(const Resizing& what, int threads);

void resize(const Resizing& what, const float* in, float* out, float* scratch, ThreadPool& pool);

}  // namespace ovir::fast
