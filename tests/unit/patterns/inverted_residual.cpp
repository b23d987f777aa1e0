#include "pattern_examples.hpp"

namespace ovir::testing::patterns::inverted_residual {
namespace {

int clamp(Net& n, int x) { return n.op("Clamp-1", {x}, {{"min", "0"}, {"max", "1.5"}}); }

// --- in bf16: operands are rounded to 8 bits, three times

constexpr float kBf16 = 2e-2F;

void residual(Net& n) {  // blocks that are not whole
  const auto x = n.input({2, 40, 23, 25});
  const auto y = clamp(n, biased(n, convolution(n, x, {70, 40, 1, 1}, windows(2)), 70));
  const auto z =
      clamp(n, biased(n, n.op("GroupConvolution-1", {y, n.weights({70, 1, 1, 3, 3})}, windows(2, 1, 1)), 70));
  n.result(n.op("Add-1", {x, biased(n, convolution(n, z, {40, 70, 1, 1}, windows(2)), 40)}));
}
void image(Net& n) {  // activations that are computed aside
  const auto x = convolution(n, n.input({1, 3, 50, 55}), {33, 3, 3, 3}, windows(2, 2, 1));
  const auto y = n.op("HSwish-4", {x});
  const auto z = n.op("HSwish-4", {n.op("GroupConvolution-1", {y, n.weights({33, 1, 1, 5, 5})}, windows(2, 2, 2))});
  n.result(convolution(n, z, {18, 33, 1, 1}, windows(2)));
}

void small_planes(Net& n) {  // channels are shared out, of which there are three blocks
  const auto x = n.input({2, 40, 7, 9});
  const auto y = clamp(n, biased(n, convolution(n, x, {70, 40, 1, 1}, windows(2)), 70));
  const auto z =
      clamp(n, biased(n, n.op("GroupConvolution-1", {y, n.weights({70, 1, 1, 3, 3})}, windows(2, 2, 1)), 70));
  n.result(biased(n, convolution(n, z, {48, 70, 1, 1}, windows(2)), 48));
}

// --- in int8: a value on the border of two levels may be rounded otherwise than in f32, twice, or three times

int levels(Net& n, int x, const std::string& operation, const Shape& filters, int stride = 1) {
  return n.op(operation, {x, stepped(n, filters)}, windows(2, stride, filters.back() > 1 ? 1 : 0));
}
void levels_between(Net& n) {
  const auto x = quantized(n, n.input({2, 24, 23, 25}));
  const auto y = quantized(n, relu(n, biased(n, levels(n, x, "Convolution-1", {100, 24, 1, 1}), 100)));
  const auto z = quantized(n, relu(n, levels(n, y, "GroupConvolution-1", {100, 1, 1, 3, 3}, 2)));
  n.result(biased(n, levels(n, z, "Convolution-1", {20, 100, 1, 1}), 20));
}
void activated_levels(Net& n) {
  const auto gelu = [&](int y) { return n.op("Gelu-2", {y}); };
  const auto x = quantized(n, n.input({2, 24, 23, 25}));
  const auto y = quantized(n, gelu(biased(n, levels(n, x, "Convolution-1", {100, 24, 1, 1}), 100)));
  const auto z = quantized(n, n.op("HSwish-4", {levels(n, y, "GroupConvolution-1", {100, 1, 1, 3, 3}, 2)}));
  n.result(quantized(n, gelu(biased(n, levels(n, z, "Convolution-1", {12, 100, 1, 1}), 12))));
}
void levels_by_channel(Net& n, i64 height, i64 width) {
  const auto x = quantized(n, n.input({1, 24, height, width}));
  const auto y = quantized_by_channel(n, relu(n, levels(n, x, "Convolution-1", {100, 24, 1, 1})), 100, true);
  const auto z = quantized(n, relu(n, levels(n, y, "GroupConvolution-1", {100, 1, 1, 3, 3})));
  n.result(biased(n, levels(n, z, "Convolution-1", {20, 100, 1, 1}), 20));
}
void levels_by_channel(Net& n) { levels_by_channel(n, 23, 25); }
void levels_by_channel_of_small_planes(Net& n) { levels_by_channel(n, 7, 9); }
void levels_of_small_planes(Net& n) {
  const auto x = quantized(n, n.input({1, 24, 14, 13}));
  const auto y = quantized(n, relu(n, biased(n, levels(n, x, "Convolution-1", {200, 24, 1, 1}), 200)));
  const auto z = quantized(n, relu(n, levels(n, y, "GroupConvolution-1", {200, 1, 1, 3, 3})));
  n.result(n.op("Add-1", {x, biased(n, levels(n, z, "Convolution-1", {24, 200, 1, 1}), 24)}));
}
void levels_of_image(Net& n) {
  const auto x = quantized(n, n.input({1, 3, 50, 55}));
  const auto y = quantized(n, relu(n, levels(n, x, "Convolution-1", {32, 3, 3, 3}, 2)));
  const auto z = quantized(n, levels(n, y, "GroupConvolution-1", {32, 1, 1, 3, 3}));
  n.result(quantized(n, levels(n, z, "Convolution-1", {16, 32, 1, 1})));
}

constexpr float kLevels = 1.0F / 16;

// clang-format off
constexpr Example kExamples[] = {
    {"bf16.inverted_residual+bias+residual", residual, kOften, kFixed, true, kBf16, Precision::bf16},
    {"bf16.inverted_residual+bias", small_planes, kOften, kFixed, true, kBf16, Precision::bf16},
    {"bf16.inverted_residual", image, kOnce, kFixed, true, kBf16, Precision::bf16},
    {"int8.inverted_residual+bias", levels_between, kOften, kFixed, true, kLevels, Precision::int8},
    {"int8.inverted_residual+bias+Gelu+FakeQuantize", activated_levels, kOften, kFixed, true, kLevels,
     Precision::int8},
    {"int8.inverted_residual+bias", levels_by_channel, kOften, kFixed, true, kLevels, Precision::int8},
    {"int8.inverted_residual+bias", levels_by_channel_of_small_planes, kOften, kFixed, true, kLevels, Precision::int8},
    {"int8.inverted_residual+bias+residual", levels_of_small_planes, kOften, kFixed, true, kLevels, Precision::int8},
    {"int8.inverted_residual+FakeQuantize", levels_of_image, kOnce, kFixed, true, kLevels, Precision::int8},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"inverted_residual", kExamples};

}  // namespace ovir::testing::patterns::inverted_residual
