#include "pattern_examples.hpp"

namespace ovir::testing::patterns::int8_convolution {
namespace {

/// Of levels by integers times a step: the sums are exact.
int convolution(Net& n, int x, const std::string& operation, const Shape& filters) {
  return n.op(operation, {quantized(n, x), stepped(n, filters)}, windows(2, 1, filters.back() > 1 ? 1 : 0));
}
void pointwise(Net& n) {
  n.result(relu(n, biased(n, convolution(n, n.input({2, 40, 5, 7}), "Convolution-1", {21, 40, 1, 1}), 21)));
}
void direct_quantized(Net& n) {
  n.result(quantized(n, convolution(n, n.input({1, 33, 5, 5}), "Convolution-1", {18, 33, 3, 3})));
}
void image(Net& n) { n.result(relu(n, convolution(n, n.input({1, 3, 12, 11}), "Convolution-1", {18, 3, 3, 3}))); }
void depthwise(Net& n) {
  n.result(biased(n, convolution(n, n.input({2, 21, 9, 8}), "GroupConvolution-1", {21, 1, 1, 3, 3}), 21));
}
void pooled_image(Net& n) {  // the maximum of levels is the level of the maximum
  const auto x = relu(n, biased(n, convolution(n, n.input({2, 3, 13, 11}), "Convolution-1", {18, 3, 3, 3}), 18));
  n.result(quantized(n, n.op("MaxPool-1", {x}, pooled({{"rounding_type", "ceil"}}))));
}
void residual(Net& n) {  // both summands and the sum on levels
  const auto x = n.input({1, 32, 5, 5});
  const auto y = quantized(n, convolution(n, x, "Convolution-1", {32, 32, 3, 3}));
  n.result(quantized(n, relu(n, n.op("Add-1", {y, quantized(n, n.input({1, 32, 5, 5}))}))));
}

void winograd(Net& n) {
  const auto x = n.input({1, 64, 12, 15});
  const auto y = biased(n, convolution(n, x, "Convolution-1", {64, 64, 3, 3}), 64);
  n.result(softmax(n, relu(n, n.op("Add-1", {y, passing(n, x)}))));
}
void residual_f32(Net& n) {  // half a panel, beside f32
  const auto x = n.input({1, 16, 5, 5});
  n.result(softmax(
      n, relu(n, n.op("Add-1", {biased(n, convolution(n, x, "Convolution-1", {16, 16, 3, 3}), 16), passing(n, x)}))));
}
void residual_f32_quantized(Net& n) {
  const auto x = n.input({1, 40, 5, 6});
  n.result(quantized(n, n.op("Add-1", {n.input({1, 33, 5, 6}), convolution(n, x, "Convolution-1", {33, 40, 1, 1})})));
}
/// What repeats the output is no residual.
void residual_of_one_pixel(Net& n) {
  const auto y = convolution(n, n.input({1, 33, 1, 1}), "Convolution-1", {33, 33, 1, 1});
  n.result(n.op("Add-1", {y, n.input({1, 33, 4, 5})}));
}

/// A value on the border of two levels may be rounded otherwise than in f32.
constexpr float kLevel = 1.0F / 64;

// clang-format off
constexpr Example kExamples[] = {
    {"int8.convolution+bias+Relu", pointwise, kOften, kFixed, true, 5e-6F, Precision::int8},
    {"int8.convolution+FakeQuantize", direct_quantized, kOnce, kFixed, true, kLevel, Precision::int8},
    {"int8.convolution+Relu", image, kOften, kFixed, true, 5e-6F, Precision::int8},
    {"int8.convolution+bias+Relu+MaxPool+FakeQuantize", pooled_image, kOften, kFixed, true, kLevel, Precision::int8},
    {"int8_depthwise.convolution+bias", depthwise, kOnce, kFixed, true, 5e-6F, Precision::int8},
    {"int8.convolution+FakeQuantize+residual+Relu+FakeQuantize", residual, kOften, kFixed, true, kLevel,
     Precision::int8},
    {"int8_winograd3.convolution+bias+residual+Relu", winograd, kOften, kFixed, true, 5e-6F, Precision::int8},
    {"int8.convolution+bias+residual+Relu", winograd, kOnce, kFixed, true, 5e-6F, Precision::int8},
    {"int8.convolution+bias+residual+Relu", residual_f32, kOften, kFixed, true, 5e-6F, Precision::int8},
    {"int8.convolution", residual_of_one_pixel, kOften, kFixed, true, 5e-6F, Precision::int8},
    {"int8.convolution+residual+FakeQuantize", residual_f32_quantized, kOnce, kFixed, true, kLevel, Precision::int8},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"int8_convolution", kExamples};

}  // namespace ovir::testing::patterns::int8_convolution
