#include "op/kit/interpolation_taps.hpp"

#include <algorithm>

namespace ovir::interpolation {
namespace {

double triangle(double x) { return std::max(0.0, 1 - std::abs(x)); }

/// The cubic convolution kernel with parameter a.
double cubic(double x, double a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

/// How Pillow resamples: the filter is as wide as the pixels that an output pixel covers.
void pillow(Taps& taps, i64 o, i64 in, i64 out, double reach, auto filter) {
  const auto ratio = static_cast<double>(in) / static_cast<double>(out), wide = std::max(1.0, ratio),
             support = reach * wide, center = (static_cast<double>(o) + 0.5) * ratio;
  const auto begin = center - support + 0.5, end = center + support + 0.5;  // cut, not rounded
  const auto first = std::max<i64>(0, static_cast<i64>(begin)), last = std::min(in, static_cast<i64>(end));
  for (auto i = first; i < last; ++i) taps.add(i, filter((static_cast<double>(i) - center + 0.5) / wide));
}

}  // namespace

Taps taps_of(const Task& a, i64 in, i64 out, float scale, bool antialias, std::pmr::memory_resource* memory) {
  Taps taps(memory);
  const auto clip = [&](double i) { return static_cast<i64>(std::clamp(i, 0.0, static_cast<double>(in - 1))); };
  for (i64 o = 0; o < out; ++o) {
    const auto x = static_cast<double>(original(a.coordinates, o, scale, out, in));
    bool normalize = false;
    switch (a.mode) {
      case Mode::nearest: taps.add(clip(nearest(a.nearest_mode, x, scale < 1)), 1); break;
      case Mode::linear: {
        // Every neighbor within reach; with antialias the reach follows the scale, also of an axis that grows.
        const auto narrow = antialias ? static_cast<double>(scale) : 1.0;
        const auto reach = scale > 1 ? 2.0 : std::ceil(2 / narrow), middle = std::round(x);
        for (auto i = middle - reach; i <= middle + reach; ++i)
          if (i >= 0 && i < static_cast<double>(in)) taps.add(static_cast<i64>(i), triangle(narrow * (x - i)));
        normalize = true;
        break;
      }
      case Mode::linear_onnx: {
        const auto inside = std::clamp(x, 0.0, static_cast<double>(in - 1)), below = std::floor(inside);
        taps.add(clip(below), 1 - (inside - below));
        taps.add(clip(below + 1), inside - below);
        break;
      }
      case Mode::cubic:
        for (int i = -1; i <= 2; ++i)
          taps.add(clip(std::floor(x) + i), cubic(x - std::floor(x) - i, static_cast<double>(a.cube_coeff)));
        break;
      case Mode::bilinear_pillow:
        pillow(taps, o, in, out, 1, triangle);
        normalize = true;
        break;
      case Mode::bicubic_pillow:
        pillow(taps, o, in, out, 2, [&](double d) { return cubic(d, static_cast<double>(a.cube_coeff)); });
        normalize = true;
        break;
    }
    taps.end(normalize);
  }
  return taps;
}

}  // namespace ovir::interpolation
