#include "pattern_examples.hpp"

namespace ovir::testing::patterns::int8_convolution_transposed {
namespace {

constexpr float kLevel = 1.0F / 64;

int transposed(Net& n, int x, const Shape& filters, int stride) {
  return n.op("ConvolutionBackpropData-1", {quantized(n, x), stepped(n, filters)}, windows(2, stride));
}
void levels(Net& n) {  // more outputs than a panel has; levels that another convolution reads
  const auto y = relu(n, biased(n, transposed(n, n.input({2, 40, 5, 7}), {40, 45, 2, 2}, 2), 45));
  n.result(n.op("Convolution-1", {quantized(n, y), stepped(n, {18, 45, 3, 3})}, windows(2, 1, 1)));
}
void in_f32(Net& n) { n.result(biased(n, transposed(n, n.input({1, 24, 6, 20}), {24, 12, 3, 3}, 3), 12)); }
void activated(Net& n) {
  n.result(quantized(n, n.op("HSwish-4", {transposed(n, n.input({1, 24, 9, 4}), {24, 70, 2, 2}, 2)})));
}

// clang-format off
constexpr Example kExamples[] = {
    {"int8.transposed_convolution+bias+Relu+FakeQuantize", levels, kOften, kFixed, true, 2 * kLevel, Precision::int8},
    {"int8.transposed_convolution+bias", in_f32, kOnce, kFixed, true, 5e-6F, Precision::int8},
    {"int8.transposed_convolution+HSwish+FakeQuantize", activated, kOften, kFixed, true, kLevel, Precision::int8},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"int8_convolution_transposed", kExamples};

}  // namespace ovir::testing::patterns::int8_convolution_transposed
