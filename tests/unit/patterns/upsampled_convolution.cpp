#include "pattern_examples.hpp"

namespace ovir::testing::patterns::upsampled_convolution {
namespace {

int resized(Net& n, int x, std::string_view mode, std::initializer_list<i64> sizes, std::initializer_list<i64> axes) {
  return n.op("Interpolate-11", {x, n.indices(sizes), n.indices(axes)},
              {{"mode", std::string(mode)},
               {"shape_calculation_mode", "sizes"},
               {"coordinate_transformation_mode", "half_pixel"},
               {"nearest_mode", "floor"}});
}
int pointwise(Net& n, int x, const Shape& filters) { return convolution(n, x, filters, windows(2)); }

void linear(Net& n) {
  n.result(
      biased(n, pointwise(n, resized(n, n.input({2, 70, 5, 7}), "linear_onnx", {11, 14}, {2, 3}), {21, 70, 1, 1}), 21));
}
/// Between other convolutions, with an activation behind it.
void linear_blocked(Net& n) {
  const auto x = pointwise(n, n.input({1, 20, 6, 5}), {64, 20, 1, 1});
  const auto y = biased(n, pointwise(n, resized(n, x, "linear_onnx", {12, 15}, {2, 3}), {64, 64, 1, 1}), 64);
  n.result(pointwise(n, relu(n, y), {9, 64, 1, 1}));
}
void nearest(Net& n) {
  n.result(pointwise(n, resized(n, n.input({1, 64, 5, 7}), "nearest", {10, 14}, {2, 3}), {64, 64, 1, 1}));
}
void between_transposes(Net& n) {
  const auto last = n.op("Transpose-1", {n.input({1, 64, 5, 7}), n.indices({0, 2, 3, 1})});
  const auto first = n.op("Transpose-1", {resized(n, last, "linear_onnx", {10, 14}, {1, 2}), n.indices({0, 3, 1, 2})});
  n.result(pointwise(n, first, {21, 64, 1, 1}));
}

// clang-format off
constexpr Example kExamples[] = {
    {"pointwise.convolution+bias+resize.linear", linear},
    {"pointwise.convolution+bias+resize.linear", linear, kOnce},
    {"pointwise.convolution+bias+resize.linear", linear_blocked},
    {"pointwise.convolution+resize.nearest", nearest},
    {"pointwise.convolution+resize.linear", between_transposes},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"upsampled_convolution", kExamples};

}  // namespace ovir::testing::patterns::upsampled_convolution
