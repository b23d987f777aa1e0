#include "pattern_examples.hpp"

namespace ovir::testing::patterns::int8_quantize {
namespace {

void by_itself(Net& n) { n.result(quantized(n, n.input({2, 70, 5, 3}))); }
void before_convolutions(Net& n) {
  const auto x = quantized(n, n.input({1, 32, 6, 5}));
  n.result(n.op("Convolution-1", {x, stepped(n, {18, 32, 1, 1})}, windows(2)));
  n.result(n.op("Convolution-1", {x, stepped(n, {17, 32, 3, 3})}, windows(2, 1, 1)));
}

void rows(Net& n) {  // after factors by column, for two products
  const auto x = quantized(n, n.op("Multiply-1", {n.input({2, 9, 44}), n.weights({44}, 4)}));
  n.result(matmul(n, x, stepped(n, {33, 44}), true));
  n.result(matmul(n, x, stepped(n, {30, 44}), true));
}
void rows_of_f32(Net& n) { n.result(quantized(n, n.input({2, 3, 2, 9, 4}))); }

void after_normalization(Net& n) {
  const auto x = normalized(n, n.op("Tanh-1", {n.input({2, 20, 6, 5})}), 20);
  n.result(n.op("Convolution-1", {quantized(n, x), stepped(n, {18, 20, 3, 3})}, windows(2, 1, 1)));
}

void after_normalization_and_relu(Net& n) {  // which levels from 0 on include
  const auto x = relu(n, normalized(n, n.op("Tanh-1", {n.input({2, 20, 6, 5})}), 20));
  const auto low = n.numbers({0}, {}), high = n.numbers({255.0F / 64}, {});
  const auto levels = n.op("FakeQuantize-1", {x, low, high, low, high}, {{"levels", "256"}});
  n.result(n.op("Convolution-1", {levels, stepped(n, {18, 20, 3, 3})}, windows(2, 1, 1)));
}
void relu_before_less(Net& n) {  // of which those below 0 are left out
  const auto x = relu(n, normalized(n, n.op("Tanh-1", {n.input({2, 20, 6, 5})}), 20));
  n.result(n.op("Convolution-1", {quantized(n, x), stepped(n, {18, 20, 3, 3})}, windows(2, 1, 1)));
}

/// A convolution's levels become others: for another one, after a normalization, and in f32.
void of_levels(Net& n) {
  const auto y = n.op("Convolution-1", {quantized(n, n.input({2, 20, 6, 5})), stepped(n, {70, 20, 1, 1})}, windows(2));
  const auto x = quantized(n, y);
  n.result(n.op("Convolution-1", {x, stepped(n, {18, 70, 1, 1})}, windows(2)));
  const auto low = n.numbers({-1}, {}), high = n.numbers({1}, {});
  const auto others = [&](int v) {
    return n.op("FakeQuantize-1", {v, low, high, low, high}, {{"levels", "129"}});  // on the same grid
  };
  n.result(n.op("Convolution-1", {others(x), stepped(n, {17, 70, 3, 3})}, windows(2, 1, 1)));
  const auto z = n.op("Multiply-1", {x, n.weights({1, 70, 1, 1})});
  n.result(n.op("Convolution-1", {quantized(n, z), stepped(n, {16, 70, 3, 3})}, windows(2, 1, 1)));
}

// clang-format off
constexpr Example kExamples[] = {
    {"int8.quantize", of_levels, kOften, kFixed, true, 1.0F / 32, Precision::int8},
    {"int8.quantize", by_itself, kOnce, kFixed, true, 5e-6F, Precision::int8},
    {"int8.Multiply+quantize", rows, kOften, kFixed, true, 1.0F / 64, Precision::int8},
    {"int8.quantize", rows_of_f32, kOnce, kFixed, true, 5e-6F, Precision::int8},
    {"int8.quantize", before_convolutions, kOften, kFixed, true, 5e-6F, Precision::int8},
    {"int8.normalize+quantize", after_normalization_and_relu, kOften, kFixed, true, 1.0F / 64, Precision::int8},
    {"int8.normalize+quantize", relu_before_less, kOften, kFixed, true, 1.0F / 64, Precision::int8},
    {"int8.normalize+quantize", after_normalization, kOften, kFixed, true, 1.0F / 64, Precision::int8},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"int8_quantize", kExamples};

}  // namespace ovir::testing::patterns::int8_quantize
