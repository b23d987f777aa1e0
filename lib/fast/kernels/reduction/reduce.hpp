// Sums, means and extremes over an axis.
#pragma once
#include "base/int.hpp"
#include "fast/isa/table.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// y[outer][inner] from x[outer][n][inner]; the mean is the sum divided by n. f32; sums are taken in parts of a few
/// hundred values. An empty axis gives 0, NaN (mean), -inf or inf.
void reduce(Reduction what, const float* x, float* y, i64 outer, i64 n, i64 inner, ThreadPool& pool);

}  // namespace ovir::fast
