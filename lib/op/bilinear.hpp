// A sample between the pixels of a plane, as the ROIAlign family takes it.
#pragma once
#include <algorithm>
#include <cstdint>

namespace ovir {

/// The four pixels around (x, y) and their weights. All weights are 0 more than one pixel outside of the plane.
template <class T>
struct BilinearSample {
  std::int64_t at[4]{};
  T weight[4]{};
  BilinearSample(T x, T y, std::int64_t width, std::int64_t height) {
    if (!(x >= -1 && x <= static_cast<T>(width) && y >= -1 && y <= static_cast<T>(height))) return;
    x = std::clamp<T>(x, 0, static_cast<T>(width - 1));
    y = std::clamp<T>(y, 0, static_cast<T>(height - 1));
    const auto left = static_cast<std::int64_t>(x), top = static_cast<std::int64_t>(y);
    const auto right = std::min(left + 1, width - 1), bottom = std::min(top + 1, height - 1);
    const T dx = x - static_cast<T>(left), dy = y - static_cast<T>(top);
    const std::int64_t places[] = {top * width + left, top * width + right, bottom * width + left, bottom * width + right};
    const T weights[] = {(1 - dy) * (1 - dx), (1 - dy) * dx, dy * (1 - dx), dy * dx};
    std::copy_n(places, 4, at);
    std::copy_n(weights, 4, weight);
  }
  T of(const T* plane) const { return weight[0] * plane[at[0]] + weight[1] * plane[at[1]] + weight[2] * plane[at[2]] + weight[3] * plane[at[3]]; }
};

/// Samples along one side of a bin are never more than this: a region that asks for more is refused.
inline constexpr std::int64_t kMostBinSamples = 1 << 12;

}  // namespace ovir
