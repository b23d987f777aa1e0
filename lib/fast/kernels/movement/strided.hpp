// Elements read with a stride along each axis: transposed, repeated, every other one, backwards.
#pragma once
#include <array>
#include <cstddef>

#include "base/int.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

inline constexpr i64 kMaxStridedAxes = 16;

/// The axes of an output, each with its length and the stride, in elements, with which the input is read; 0 repeats.
/// Axes of length 1 and those that are one run with the axis before are left out as they are added.
class StridedAxes {
 public:
  struct Axis {
    i64 length, stride;
  };

  /// The next axis towards the last; lengths are positive. False: too many.
  bool add(i64 length, i64 stride);

  i64 first = 0;  ///< the element of the input at which it begins
  i64 rank = 0;
  std::array<Axis, kMaxStridedAxes> list{};
};

/// Fills the output; elements are of 1, 2, 4 or 8 bytes.
void copy_strided(const StridedAxes& axes, int width, const std::byte* from, std::byte* to, ThreadPool& pool);

}  // namespace ovir::fast
