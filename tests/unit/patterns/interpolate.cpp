#include "pattern_examples.hpp"

namespace ovir::testing::patterns::interpolate {
namespace {

spec::AttributeTexts sized(std::string_view mode, std::string_view coordinates) {
  return {{"mode", std::string(mode)},
          {"shape_calculation_mode", "sizes"},
          {"coordinate_transformation_mode", std::string(coordinates)},
          {"nearest_mode", "floor"}};
}

void nearest(Net& n) {
  n.result(n.op("Interpolate-11", {n.input({1, 3, 5, 7}), n.indices({10, 14}), n.indices({2, 3})},
                sized("nearest", "asymmetric")));
}
/// Between convolutions, which keep values blocked.
void nearest_blocked(Net& n) {
  const spec::AttributeTexts plain{
      {"strides", "1,1"}, {"dilations", "1,1"}, {"pads_begin", "0,0"}, {"pads_end", "0,0"}, {"auto_pad", "explicit"}};
  const auto a = n.op("Convolution-1", {n.input({2, 16, 5, 7}), n.weights({20, 16, 1, 1})}, plain);
  const auto b = n.op("Interpolate-11", {a, n.indices({9, 7}), n.indices({2, 3})}, sized("nearest", "half_pixel"));
  n.result(n.op("Convolution-1", {b, n.weights({16, 20, 1, 1})}, plain));
}
void linear_by_scales(Net& n) {
  n.result(n.op("Interpolate-4",
                {n.input({2, 20, 6, 5}), n.indices({12, 7}), n.numbers({2, 1.5F}, {2}), n.indices({-2, -1})},
                {{"mode", "linear_onnx"},
                 {"shape_calculation_mode", "scales"},
                 {"coordinate_transformation_mode", "half_pixel"}}));
}
void linear_1(Net& n) {
  n.result(n.op("Interpolate-1", {n.input({2, 4, 6, 5}), n.indices({3, 11})},
                {{"axes", "2,3"}, {"mode", "linear"}, {"align_corners", "true"}}));
}

/// Between quantized convolutions, in u8.
void levels(Net& n) {
  const auto x = n.op("Convolution-1", {quantized(n, n.input({2, 20, 9, 10})), stepped(n, {70, 20, 1, 1})}, windows(2));
  const auto y =
      n.op("Interpolate-11", {quantized(n, x), n.indices({18, 15}), n.indices({2, 3})}, sized("nearest", "asymmetric"));
  n.result(n.op("Convolution-1", {y, stepped(n, {18, 70, 1, 1})}, windows(2)));
}
void pixels(Net& n) {
  n.result(n.op("Interpolate-11", {n.input({1, 9, 11, 3}), n.indices({4, 30}), n.indices({1, 2})},
                sized("linear_onnx", "half_pixel")));
}
void nearest_pixels(Net& n) {
  n.result(n.op("Interpolate-11", {n.input({1, 9, 11, 3}), n.indices({18, 7}), n.indices({1, 2})},
                sized("nearest", "asymmetric")));
}
/// Channels that come last only here, between convolutions.
void between_transposes(Net& n, std::string_view mode, bool alone) {
  const auto a = n.op("Convolution-1", {n.input({2, 5, 6, 7}), n.weights({20, 5, 1, 1})}, windows(2));
  const auto last = n.op("Transpose-1", {a, n.indices({0, 2, 3, 1})});
  const auto y = n.op("Interpolate-11", {last, n.indices({9, 21}), n.indices({1, 2})}, sized(mode, "half_pixel"));
  const auto first = n.op("Transpose-1", {y, n.indices({0, 3, 1, 2})});
  n.result(n.op("Convolution-1", {first, n.weights({18, 20, 1, 1})}, windows(2)));
  if (!alone) n.result(softmax(n, last));
}
void pixels_between_transposes(Net& n) { between_transposes(n, "linear_onnx", true); }
void pixels_that_others_read(Net& n) { between_transposes(n, "nearest", false); }
void linear(Net& n) {
  n.result(n.op("Interpolate-4",
                {n.input({2, 3, 10, 12}), n.indices({20, 6}), n.numbers({2, 0.5F}, {2}), n.indices({2, 3})},
                {{"mode", "linear"}, {"antialias", "true"}, {"shape_calculation_mode", "scales"}}));
}
void linear_volume(Net& n) {
  n.result(n.op("Interpolate-11", {n.input({1, 2, 5, 6, 7}), n.indices({10, 6, 21}), n.indices({2, 3, 4})},
                sized("linear", "align_corners")));
}
void cubic(Net& n) {
  n.result(n.op("Interpolate-11", {relu(n, n.input({1, 3, 8, 9})), n.indices({17, 5}), n.indices({2, 3})},
                sized("cubic", "half_pixel")));
}
void as_pillow(Net& n) {
  n.result(n.op("Interpolate-11", {n.input({1, 3, 30, 20}), n.indices({7, 25}), n.indices({2, 3})},
                sized("bicubic_pillow", "half_pixel")));
}
void unchanged(Net& n) {
  n.result(n.op("Interpolate-11", {relu(n, n.input({1, 3, 30, 20})), n.indices({30, 20}), n.indices({2, 3})},
                sized("linear", "align_corners")));
}

/// Of bytes, which are rounded.
int bytes(Net& n, const PartialShape& shape) {
  const int x = n.op("Multiply-1", {n.input(shape), n.numbers({150}, {1})});
  return n.op("Convert-1", {n.op("Abs-1", {x})}, {{"destination_type", "u8"}});
}
void bytes_to(Net& n, std::string_view mode, i64 rows, i64 columns) {
  n.result(n.op("Interpolate-11", {bytes(n, {2, 9, 11, 3}), n.indices({rows, columns}), n.indices({1, 2})},
                sized(mode, "half_pixel")));
}
void nearest_integers(Net& n) {
  const int x = n.op("Convert-1", {bytes(n, {1, 2, 9, 11})}, {{"destination_type", "i64"}});
  n.result(n.op("Interpolate-11", {x, n.indices({18, 5}), n.indices({2, 3})}, sized("nearest", "half_pixel")));
}
void bytes_nearest(Net& n) { bytes_to(n, "nearest", 4, 30); }
void bytes_linear(Net& n) { bytes_to(n, "linear_onnx", 18, 7); }
void bytes_cubic(Net& n) { bytes_to(n, "cubic", 5, 40); }
void bytes_as_pillow(Net& n) { bytes_to(n, "bilinear_pillow", 4, 30); }
void rows_of_bytes(Net& n) { bytes_to(n, "linear", 6, 11); }
void columns_of_bytes(Net& n) { bytes_to(n, "linear_onnx", 9, 100); }
void planes_of_bytes(Net& n) {
  n.result(n.op("Interpolate-4",
                {bytes(n, {1, 3, 8, 10}), n.indices({16, 5}), n.numbers({2, 0.5F}, {2}), n.indices({2, 3})},
                {{"mode", "linear_onnx"}, {"shape_calculation_mode", "scales"}}));
}

// clang-format off
constexpr Example kExamples[] = {
    {"resize.nearest", nearest},
    {"resize.nearest", nearest, kOnce, kOpen},
    {"resize.nearest", nearest_blocked},
    {"resize.linear", linear_by_scales},
    {"resize.linear", linear_by_scales, kOnce, kOpen},
    {"resize.linear", linear_1},
    {"resize.nearest", levels, kOften, kFixed, true, 1.0F / 64, Precision::int8},
    {"resize.linear", pixels},
    {"resize.linear", pixels, kOnce, kOpen},
    {"resize.nearest", nearest_pixels},
    {"resize.linear", pixels_between_transposes},
    {"resize.linear", pixels_between_transposes, kOnce, kOpen},
    {"resize.nearest", pixels_that_others_read},
    {"resample", linear},
    {"resample", linear, kOnce, kOpen},
    {"resample", linear_volume},
    {"resample", cubic},
    {"resample", as_pillow},
    {"resample", unchanged},
    {"resample", nearest_integers, kOften, kFixed, kF32Only},
    {"resample", nearest_integers, kOnce, kOpen, kF32Only},
    {"resample", bytes_nearest, kOften, kFixed, kF32Only},
    {"resample", bytes_linear, kOften, kFixed, kF32Only},
    {"resample", bytes_linear, kOnce, kOpen, kF32Only},
    {"resample", bytes_cubic, kOften, kFixed, kF32Only},
    {"resample", bytes_as_pillow, kOften, kFixed, kF32Only},
    {"resample", rows_of_bytes, kOften, kFixed, kF32Only},
    {"resample", columns_of_bytes, kOften, kFixed, kF32Only},
    {"resample", planes_of_bytes, kOften, kFixed, kF32Only},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"interpolate", kExamples};

}  // namespace ovir::testing::patterns::interpolate
