// Ranks that come from data: the number of elements of a shape input is the rank of the output.
#pragma once
#include "tensor/dim.hpp"

namespace ovir {

/// A shape of as many axes as `count` says. The rank is unknown where it does not, or where it says more than any
/// tensor has.
inline PartialShape shape_of_rank(const Dim& count) {
  constexpr i64 kMaxAxes = 1 << 16;
  return count.is_static() && count.length() <= kMaxAxes ? PartialShape::of_rank(count.length())
                                                         : PartialShape::unknown_rank();
}

}  // namespace ovir
