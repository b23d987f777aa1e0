// Of which pixels GridSample makes a sample; the fast tier reads it, too.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>

#include "op/kit/image_attrs.hpp"

namespace ovir::grid_sampling {

/// From [-1, 1] to pixels.
inline double denormalize(double v, i64 length, bool align_corners) {
  const auto n = static_cast<double>(length);
  const auto x = align_corners ? (v + 1) / 2 * (n - 1) : ((v + 1) * n - 1) / 2;
  return std::isfinite(x) ? std::clamp(x, -1e9, 1e9) : -1e9;  // so that a pixel's number is an integer
}

/// The pixel that stands for number i, or -1 for a zero.
inline i64 pixel(i64 i, i64 length, const GridSampleAttrs& a) {
  if (0 <= i && i < length) return i;
  if (a.padding_mode == GridSamplePadding::zeros) return -1;
  if (a.padding_mode == GridSamplePadding::border) return std::clamp<i64>(i, 0, length - 1);
  if (a.align_corners) {  // mirrored at the centers of the outermost pixels
    const auto period = std::max<i64>(1, 2 * (length - 1));
    i = (i < 0 ? -i : i) % period;
    return i < length ? i : period - i;
  }
  const auto period = 2 * length;  // mirrored at their edges
  i = (i % period + period) % period;
  return i < length ? i : period - 1 - i;
}

struct Tap {
  i64 at;
  double weight;
};

/// The pixels along one axis that a sample is made of.
struct Taps {
  std::array<Tap, 4> list;
  i64 count;
  const Tap* begin() const { return list.data(); }
  const Tap* end() const { return list.data() + count; }
};

inline Taps taps_of(double x, i64 length, const GridSampleAttrs& a) {
  if (a.mode == GridSampleMode::nearest) return {{{{pixel(static_cast<i64>(std::nearbyint(x)), length, a), 1}}}, 1};
  const auto k = static_cast<i64>(std::floor(x));
  const auto d = x - static_cast<double>(k);
  if (a.mode == GridSampleMode::bilinear) return {{{{pixel(k, length, a), 1 - d}, {pixel(k + 1, length, a), d}}}, 2};
  constexpr double A = -0.75;
  const auto near = [](double t) { return ((A + 2) * t - (A + 3)) * t * t + 1; };
  const auto far = [](double t) { return ((A * t - 5 * A) * t + 8 * A) * t - 4 * A; };
  return {{{{pixel(k - 1, length, a), far(1 + d)},
            {pixel(k, length, a), near(d)},
            {pixel(k + 1, length, a), near(1 - d)},
            {pixel(k + 2, length, a), far(2 - d)}}},
          4};
}

}  // namespace ovir::grid_sampling
