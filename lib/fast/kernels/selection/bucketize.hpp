// Numbers as those of the buckets between sorted boundaries that they fall into.
#pragma once
#include "base/int.hpp"
#include "tensor/view.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// Scratch memory in floats.
i64 bucketize_scratch(const View& boundaries);
/// How many boundaries are less than each x, or, without `with_right_bound`, not more. x and boundaries are numbers of
/// one type, y i32 or i64.
void bucketize(const View& x, const View& boundaries, bool with_right_bound, const View& y, float* scratch,
               ThreadPool& pool);

}  // namespace ovir::fast
