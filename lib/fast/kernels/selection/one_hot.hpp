// Indices as vectors of which one element is set.
#pragma once
#include "base/int.hpp"
#include "tensor/view.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// y[outer][length][inner]: `on` where the length is indices[outer][inner], else `off`. Indices that lie outside set
/// nothing; with `normalizes` negative ones count from the end. `on` and `off` are scalars of y's type.
struct OneHot {
  i64 outer, length, inner;
  bool normalizes;
};
/// Indices of i32 or i64, elements of 1, 2, 4 or 8 bytes.
void one_hot(const OneHot& o, const View& indices, const View& on, const View& off, const View& y, ThreadPool& pool);

}  // namespace ovir::fast
