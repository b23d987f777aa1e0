// LRN: elements divided by a power of the sum of squares around them.
#pragma once
#include "base/int.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// y = x / (bias + scale · the sum of squares of up to `half` elements to either side)^beta, along n of
/// x[outer][n][inner], or, of a plane, along both n and inner.
struct LocalResponse {
  i64 outer, n, inner, half;
  bool plane;
  float scale, bias, beta;
};
/// Scratch memory in floats, of each slot.
i64 lrn_scratch(const LocalResponse& l);
void lrn(const LocalResponse& l, const float* x, float* y, float* scratch, ThreadPool& pool);

}  // namespace ovir::fast
