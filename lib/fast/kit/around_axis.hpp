// A shape as three axes.
#pragma once
#include <span>

#include "base/int.hpp"

namespace ovir::fast {

/// Dims as [outer][length][inner] around an axis, which counts from the end where it is negative.
struct AroundAxis {
  i64 outer = 1, length = 1, inner = 1;

  AroundAxis(std::span<const i64> dims, i64 axis) {
    const auto rank = std::ssize(dims), at = axis < 0 ? axis + rank : axis;
    for (i64 i = 0; i < rank; ++i) (i < at ? outer : (i == at ? length : inner)) *= dims[i];
  }
};

}  // namespace ovir::fast
