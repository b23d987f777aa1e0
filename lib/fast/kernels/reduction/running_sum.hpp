// Running sums along an axis.
#pragma once
#include "base/int.hpp"
#include "tensor/view.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// Of x[outer][n][inner]; an element's own sum is what comes before it, where `exclusive`, and from the end where
/// `reverse`.
struct RunningSum {
  i64 outer, n, inner;
  bool exclusive, reverse;
};

/// Numbers of any type; floats are summed in double precision, integers wrap.
void running_sum(const RunningSum& s, const View& x, const View& y, ThreadPool& pool);

}  // namespace ovir::fast
