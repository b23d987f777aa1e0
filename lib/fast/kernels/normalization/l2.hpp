// NormalizeL2: elements divided by the norm of what lies along an axis.
#pragma once
#include "base/int.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// y = x / √(the sum of squares + eps), or √ of the larger of them, of x[outer][n][inner] along n.
struct NormalizedL2 {
  i64 outer, n, inner;
  double eps;
  bool adds;  ///< eps
};
void normalize_l2(const NormalizedL2& l, const float* x, float* y, ThreadPool& pool);

}  // namespace ovir::fast
