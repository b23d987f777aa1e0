// How regions are sampled; the fast tier reads it, too.
#pragma once
#include <algorithm>

#include "base/int.hpp"

namespace ovir {

/// Samples along one side of a bin are never more than this: a region that asks for more is refused.
inline constexpr i64 kMaxBinSamples = 1 << 12;

/// The four pixels around (x, y) and their weights. More than one pixel outside of the plane everything is 0, and so it
/// is where the plane has no pixels.
template <class T>
struct BilinearSample {
  BilinearSample() = default;
  i64 at[4]{};
  T weight[4]{};
  bool inside = false;
  BilinearSample(T x, T y, i64 width, i64 height) {
    if (width == 0 || height == 0) return;
    if (!(x >= -1 && x <= static_cast<T>(width) && y >= -1 && y <= static_cast<T>(height))) return;
    x = std::clamp<T>(x, 0, static_cast<T>(width - 1));
    y = std::clamp<T>(y, 0, static_cast<T>(height - 1));
    const auto left = static_cast<i64>(x), top = static_cast<i64>(y);
    const auto right = std::min(left + 1, width - 1), bottom = std::min(top + 1, height - 1);
    const T dx = x - static_cast<T>(left), dy = y - static_cast<T>(top);
    const i64 places[] = {top * width + left, top * width + right, bottom * width + left, bottom * width + right};
    const T weights[] = {(1 - dy) * (1 - dx), (1 - dy) * dx, dy * (1 - dx), dy * dx};
    std::copy_n(places, 4, at);
    std::copy_n(weights, 4, weight);
    inside = true;
  }
  T of(const T* plane) const {
    if (!inside) return 0;
    return weight[0] * plane[at[0]] + weight[1] * plane[at[1]] + weight[2] * plane[at[2]] + weight[3] * plane[at[3]];
  }
};

}  // namespace ovir
