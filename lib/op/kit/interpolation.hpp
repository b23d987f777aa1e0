// What Interpolate's attributes ask for, and where an output element lies in the input; the fast tier reads them too.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "op/attributes.hpp"

namespace ovir::interpolation {

enum class Mode : std::uint8_t { nearest, linear, linear_onnx, cubic, bilinear_pillow, bicubic_pillow };
constexpr auto words(Mode) {
  return std::to_array<Word<Mode>>({{"nearest", Mode::nearest},
                                    {"linear", Mode::linear},
                                    {"linear_onnx", Mode::linear_onnx},
                                    {"cubic", Mode::cubic},
                                    {"bilinear_pillow", Mode::bilinear_pillow},
                                    {"bicubic_pillow", Mode::bicubic_pillow}});
}
enum class ShapeMode : std::uint8_t { sizes, scales };
constexpr auto words(ShapeMode) {
  return std::to_array<Word<ShapeMode>>({{"sizes", ShapeMode::sizes}, {"scales", ShapeMode::scales}});
}
enum class Coordinates : std::uint8_t {
  half_pixel,
  pytorch_half_pixel,
  asymmetric,
  tf_half_pixel_for_nn,
  align_corners
};
constexpr auto words(Coordinates) {
  return std::to_array<Word<Coordinates>>({{"half_pixel", Coordinates::half_pixel},
                                           {"pytorch_half_pixel", Coordinates::pytorch_half_pixel},
                                           {"asymmetric", Coordinates::asymmetric},
                                           {"tf_half_pixel_for_nn", Coordinates::tf_half_pixel_for_nn},
                                           {"align_corners", Coordinates::align_corners}});
}
enum class NearestMode : std::uint8_t { round_prefer_floor, round_prefer_ceil, floor, ceil, simple };
constexpr auto words(NearestMode) {
  return std::to_array<Word<NearestMode>>({{"round_prefer_floor", NearestMode::round_prefer_floor},
                                           {"round_prefer_ceil", NearestMode::round_prefer_ceil},
                                           {"floor", NearestMode::floor},
                                           {"ceil", NearestMode::ceil},
                                           {"simple", NearestMode::simple}});
}

inline constexpr float kCubeCoeff = -0.75f;

struct Attrs {
  Mode mode{};
  ShapeMode shape_calculation_mode = ShapeMode::sizes;
  Coordinates coordinate_transformation_mode = Coordinates::half_pixel;
  NearestMode nearest_mode = NearestMode::round_prefer_floor;
  bool antialias = false;
  std::vector<i64> pads_begin, pads_end;
  float cube_coeff = kCubeCoeff;
};
struct Attrs1 {
  std::vector<i64> axes;
  Mode mode{};
  bool align_corners = true, antialias = false;
  std::vector<i64> pads_begin, pads_end;
};

/// What a layer of any version asks for.
struct Task {
  Mode mode;
  bool by_scale = false;
  Coordinates coordinates;
  NearestMode nearest_mode;
  bool antialias;
  std::span<const i64> pads_begin, pads_end;
  float cube_coeff = kCubeCoeff;
  /// Pillow filters columns before rows, and rounds integers after each.
  bool as_pillow() const { return mode == Mode::bilinear_pillow || mode == Mode::bicubic_pillow; }
  int target = 0;               ///< the input with the sizes or scales
  int axes_port;                ///< -1: `axes` has them
  std::span<const i64> axes{};  ///< of version 1

  bool pads() const {
    const auto any = [](std::span<const i64> pads) {
      return std::ranges::any_of(pads, [](i64 pad) { return pad != 0; });
    };
    return any(pads_begin) || any(pads_end);
  }
  i64 pad_begin(i64 axis) const { return axis < std::ssize(pads_begin) ? pads_begin[axis] : 0; }
  i64 pad_end(i64 axis) const { return axis < std::ssize(pads_end) ? pads_end[axis] : 0; }
};
inline Task task1(const Attrs1& a) {
  const auto mode = a.mode == Mode::linear && a.axes.size() <= 3 ? Mode::linear_onnx : a.mode;
  const auto coordinates = a.align_corners ? Coordinates::align_corners : Coordinates::asymmetric;
  return {.mode = mode,
          .coordinates = coordinates,
          .nearest_mode = NearestMode::simple,
          .antialias = a.antialias,
          .pads_begin = a.pads_begin,
          .pads_end = a.pads_end,
          .target = 1,
          .axes_port = -1,
          .axes = a.axes};
}
inline Task task11(const Attrs& a) {
  return {.mode = a.mode,
          .by_scale = a.shape_calculation_mode == ShapeMode::scales,
          .coordinates = a.coordinate_transformation_mode,
          .nearest_mode = a.nearest_mode,
          .antialias = a.antialias,
          .pads_begin = a.pads_begin,
          .pads_end = a.pads_end,
          .cube_coeff = a.cube_coeff,
          .target = 1,
          .axes_port = 2};
}
inline Task task4(const Attrs& a) {
  auto task = task11(a);
  task.target = task.by_scale ? 2 : 1;
  task.axes_port = 3;
  return task;
}

/// In floats, as files were made to expect: a coordinate on the edge of rounding must fall to the same side.
inline float original(Coordinates mode, i64 o, float scale, i64 out, i64 in) {
  const auto x = static_cast<float>(o);
  switch (mode) {
    case Coordinates::half_pixel: return (x + 0.5f) / scale - 0.5f;
    case Coordinates::pytorch_half_pixel: return out > 1 ? (x + 0.5f) / scale - 0.5f : 0;
    case Coordinates::asymmetric: return x / scale;
    case Coordinates::tf_half_pixel_for_nn: return (x + 0.5f) / scale;
    case Coordinates::align_corners: break;
  }
  return out == 1 ? 0 : x * static_cast<float>(in - 1) / static_cast<float>(out - 1);
}

inline double nearest(NearestMode mode, double x, bool smaller) {
  switch (mode) {
    case NearestMode::round_prefer_floor: return std::ceil(x - 0.5);
    case NearestMode::round_prefer_ceil: return std::floor(x + 0.5);
    case NearestMode::floor: return std::floor(x);
    case NearestMode::ceil: return std::ceil(x);
    case NearestMode::simple: break;
  }
  return smaller ? std::ceil(x) : std::trunc(x);
}

}  // namespace ovir::interpolation
