// Numbers that are cut to what an integer type holds.
#pragma once
#include <cmath>
#include <limits>

namespace ovir {

/// The part of v before the point as an integer in [low, high]; NaN becomes 0.
template <class T>
T saturated(double v, T low = std::numeric_limits<T>::min(), T high = std::numeric_limits<T>::max()) {
  const auto end = 2.0 * static_cast<double>(high / 2 + 1);  // the largest number may not be a double
  if (std::isnan(v)) return 0;
  if (v < static_cast<double>(low)) return low;
  return v >= end ? high : static_cast<T>(v);
}

}  // namespace ovir
