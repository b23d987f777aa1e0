#include "pattern_examples.hpp"

namespace ovir::testing::patterns::int8_sum {
namespace {

constexpr float kLevel = 1.0F / 64;

/// A convolution that others read, too, so that what follows it is not part of it.
int read_twice(Net& n, int x, i64 outputs) {
  const auto y = n.op("Convolution-1", {quantized(n, x), stepped(n, {outputs, 20, 1, 1})}, windows(2));
  n.result(n.op("Tanh-1", {y}));
  return y;
}
void of_levels(Net& n) {
  const auto x = n.input({2, 20, 9, 11});
  const auto a = quantized(n, read_twice(n, x, 70)), b = quantized(n, read_twice(n, x, 70));
  const auto sum = quantized(n, relu(n, n.op("Add-1", {a, b})));
  n.result(n.op("Convolution-1", {sum, stepped(n, {18, 70, 1, 1})}, windows(2)));
}
void of_both(Net& n) {  // levels and f32, in either order; levels become f32
  const auto x = n.input({1, 20, 9, 11});
  const auto a = quantized(n, read_twice(n, x, 40));
  const auto b = softmax(n, n.input({1, 40, 9, 11}));
  n.result(quantized(n, n.op("Add-1", {a, b})));
  n.result(quantized(n, relu(n, n.op("Add-1", {b, a}))));
}
void of_f32(Net& n) {
  const auto a = n.input({2, 24, 5, 7}), b = n.input({2, 24, 5, 7});
  const auto sum = quantized(n, n.op("Clamp-1", {n.op("Add-1", {a, b})}, {{"min", "-0.5"}, {"max", "1"}}));
  n.result(n.op("Convolution-1", {sum, stepped(n, {18, 24, 3, 3})}, windows(2, 1, 1)));
}

// clang-format off
constexpr Example kExamples[] = {
    {"int8.Add+Relu+quantize", of_levels, kOften, kFixed, true, 2 * kLevel, Precision::int8},
    {"int8.Add+quantize", of_both, kOften, kFixed, true, 2 * kLevel, Precision::int8},
    {"int8.Add+Relu+quantize", of_both, kOnce, kFixed, true, 2 * kLevel, Precision::int8},
    {"int8.Add+Clamp+quantize", of_f32, kOften, kFixed, true, kLevel, Precision::int8},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"int8_sum", kExamples};

}  // namespace ovir::testing::patterns::int8_sum
