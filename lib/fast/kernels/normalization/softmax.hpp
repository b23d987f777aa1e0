// Softmax and LogSoftmax of an axis.
#pragma once
#include "base/int.hpp"
#include "fast/isa/table.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// x and y are [outer][n][inner]; the axis is the middle one. In place is allowed. A row with a NaN, or without a
/// finite value, becomes NaN. Sums are taken in f32.
void softmax(const float* x, float* y, i64 outer, i64 n, i64 inner, bool logarithm, ThreadPool& pool);

}  // namespace ovir::fast
