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
void positive(Net& n) {  // levels below 0 are left out, also where the value stays on levels
  const auto x = relu(n, convolution(n, relu(n, n.input({1, 33, 6, 7})), "Convolution-1", {18, 33, 3, 3}));
  n.result(biased(n, convolution(n, x, "Convolution-1", {9, 18, 1, 1}), 9));
}
void positive_sum(Net& n) {
  const auto x = quantized(n, relu(n, n.input({1, 21, 5, 6})));
  n.result(softmax(n, relu(n, n.op("Add-1", {convolution(n, x, "Convolution-1", {21, 21, 1, 1}), x}))));
}
void image(Net& n) { n.result(relu(n, convolution(n, n.input({1, 3, 12, 11}), "Convolution-1", {18, 3, 3, 3}))); }
/// By every other pixel, which two convolutions read.
void sampled_image(Net& n) {
  const auto x = quantized(n, n.input({2, 3, 13, 10}));
  const auto fine = n.op("Convolution-1", {x, stepped(n, {18, 3, 1, 1})}, windows(2, 2));
  const auto wide = n.op("Convolution-1", {x, stepped(n, {18, 3, 3, 3})}, windows(2, 2, 1));
  n.result(relu(n, n.op("Add-1", {fine, wide})));
}
void depthwise_by_channel(Net& n) {  // around planes lies the level of 0, which differs
  const auto x = quantized_by_channel(n, n.input({2, 70, 9, 8}), 70, false);
  n.result(n.op("GroupConvolution-1", {x, stepped(n, {70, 1, 1, 3, 3})}, windows(2, 1, 1)));
}
void bounds_by_channel(Net& n) {  // in levels, of which some channels have those below 0
  const auto x = relu(n, convolution(n, n.input({1, 40, 5, 7}), "Convolution-1", {70, 40, 1, 1}));
  const auto y = quantized_by_channel(n, x, 70, true);
  n.result(n.op("GroupConvolution-1", {y, stepped(n, {70, 1, 1, 3, 3})}, windows(2, 1, 1)));
}
int pad_behind(Net& n, int x) {  // as TensorFlow pads strides of 2
  return n.op("Pad-1", {x, n.indices({0, 0, 0, 0}), n.indices({0, 0, 1, 1}), n.numbers({0}, {})},
              {{"pad_mode", "constant"}});
}
void padded_depthwise(Net& n) {
  const auto x = pad_behind(n, quantized_by_channel(n, n.input({1, 70, 10, 8}), 70, false));
  n.result(n.op("GroupConvolution-1", {x, stepped(n, {70, 1, 1, 3, 3})}, windows(2, 2)));
}
void padded_image(Net& n) {
  const auto x = pad_behind(n, quantized(n, n.input({1, 3, 12, 14})));
  n.result(n.op("Convolution-1", {x, stepped(n, {18, 3, 3, 3})}, windows(2, 2)));
}
void depthwise(Net& n) {
  n.result(biased(n, convolution(n, n.input({2, 21, 9, 8}), "GroupConvolution-1", {21, 1, 1, 3, 3}), 21));
}
void grouped(Net& n) {
  n.result(quantized(n, relu(n, convolution(n, n.input({2, 48, 9, 8}), "GroupConvolution-1", {3, 16, 16, 3, 3}))));
}
void grouped_by_steps(Net& n) {  // each group of outputs has a step
  const auto weights = stepped(n, {3, 8, 16, 3, 3}, {1.0F / 128, 1.0F / 512, 1.0F / 256});
  n.result(n.op("GroupConvolution-1", {quantized(n, n.input({1, 48, 9, 8})), weights}, windows(2, 1, 1)));
}
void grouped_across(Net& n) {  // 16 outputs are of two groups, and their channels in two blocks
  n.result(biased(n, convolution(n, n.input({1, 120, 5, 7}), "GroupConvolution-1", {5, 24, 24, 1, 1}), 120));
}
void pooled_image(Net& n) {  // the maximum of levels is the level of the maximum
  const auto x = relu(n, biased(n, convolution(n, n.input({2, 3, 13, 11}), "Convolution-1", {18, 3, 3, 3}), 18));
  n.result(quantized(n, n.op("MaxPool-1", {x}, pooled({{"rounding_type", "ceil"}}))));
}
void residual(Net& n) {  // both summands and the sum on levels
  const auto x = n.input({1, 15, 5, 5});
  const auto y = quantized(n, convolution(n, x, "Convolution-1", {15, 15, 3, 3}));
  n.result(quantized(n, relu(n, n.op("Add-1", {y, quantized(n, n.input({1, 15, 5, 5}))}))));
}

void winograd(Net& n) {
  const auto x = n.input({1, 64, 16, 15});
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
/// A step and a zero point for each output, of codes that lie in `codes`.
int by_output(Net& n, const Shape& shape, ElementType codes, float zero) {
  std::vector<float> values(static_cast<std::size_t>(shape.count())), zeros(static_cast<std::size_t>(shape[0]));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = zero - 100 + static_cast<float>(i * 37 % 201);
  auto of_outputs = Shape(shape.rank(), 1);
  of_outputs[0] = shape[0];
  for (std::size_t i = 0; i < zeros.size(); ++i) zeros[i] = zero + static_cast<float>(i % 20);
  const auto whole = [&](const Shape& s, const std::vector<float>& of) {
    return n.op("Convert-1", {n.constant(convert(floats(s, of), codes))},
                {{"destination_type", std::string(name(n.type()))}});
  };
  const auto from_zero = n.op("Subtract-1", {whole(shape, values), whole(of_outputs, zeros)});
  return n.op("Multiply-1", {from_zero, n.weights(of_outputs, 1.0F / 64)});
}
void zero_points(Net& n) {
  const auto weights = by_output(n, {21, 40, 3, 3}, ElementType::u8, 105);
  n.result(n.op("Convolution-1", {quantized(n, n.input({1, 40, 5, 7})), weights}, windows(2, 1, 1)));
}
void zero_points_depthwise(Net& n) {
  const auto weights = by_output(n, {21, 1, 1, 3, 3}, ElementType::i8, -5);
  n.result(n.op("GroupConvolution-1", {quantized(n, n.input({1, 21, 9, 8})), weights}, windows(2, 1, 1)));
}
/// Weights that two convolutions read are computed beforehand.
void shared_weights(Net& n) {
  const auto weights = stepped(n, {33, 33, 3, 2});
  const auto x = n.op("Convolution-1", {quantized(n, n.input({1, 33, 5, 5})), weights}, windows(2, 1, 1));
  n.result(n.op("Convolution-1", {quantized(n, x), weights}, windows(2, 1, 1)));
}

/// What repeats the output is no residual.
void residual_of_one_pixel(Net& n) {
  const auto y = convolution(n, n.input({1, 33, 1, 1}), "Convolution-1", {33, 33, 1, 1});
  n.result(n.op("Add-1", {y, n.input({1, 33, 4, 5})}));
}

int swish(Net& n, int x) { return n.op("Swish-4", {x}); }
void activated(Net& n) {  // lanes beyond the last channel stay 0
  const auto y = biased(n, convolution(n, n.input({2, 40, 5, 7}), "Convolution-1", {21, 40, 3, 2}), 21);
  n.result(n.op("Convolution-1", {n.op("Sigmoid-1", {y}), n.weights({18, 21, 1, 1})}, windows(2)));
}
void activated_levels(Net& n) {
  const auto y = swish(n, biased(n, convolution(n, n.input({1, 40, 9, 9}), "Convolution-1", {33, 40, 3, 2}), 33));
  n.result(n.op("Convolution-1", {quantized(n, y), stepped(n, {18, 33, 1, 1})}, windows(2)));
}
void gated_levels(Net& n) {  // Swish as it is spelled out
  const auto y = biased(n, convolution(n, n.input({1, 40, 9, 9}), "Convolution-1", {33, 40, 3, 2}), 33);
  const auto gated = n.op("Multiply-1", {y, n.op("Sigmoid-1", {y})});
  n.result(n.op("Convolution-1", {quantized(n, gated), stepped(n, {18, 33, 1, 1})}, windows(2)));
}
void activated_residual(Net& n) {  // of levels, onto levels
  const auto x = quantized(n, n.input({1, 15, 6, 6}));
  const auto y = quantized(n, swish(n, n.op("Convolution-1", {x, stepped(n, {15, 15, 3, 3})}, windows(2, 1, 1))));
  n.result(quantized(n, n.op("Add-1", {y, x})));
}
void activated_residual_f32(Net& n) {
  const auto x = n.input({1, 16, 6, 6});
  n.result(softmax(n, n.op("Add-1", {swish(n, convolution(n, x, "Convolution-1", {16, 16, 3, 3})), passing(n, x)})));
}
void slopes(Net& n) {
  const auto y = biased(n, convolution(n, n.input({1, 24, 6, 6}), "Convolution-1", {40, 24, 1, 1}), 40);
  n.result(quantized(n, n.op("PRelu-1", {y, n.weights({40})})));
}
void leaky(Net& n) {  // one slope; by Winograd, too
  const auto x = quantized(n, n.input({1, 64, 16, 13}));
  const auto leaks = [&](int v) { return quantized(n, n.op("PRelu-1", {v, n.numbers({0.25F}, {1})})); };
  const auto y = leaks(n.op("Convolution-1", {x, stepped(n, {80, 64, 3, 3})}, windows(2, 1, 1)));
  n.result(leaks(n.op("GroupConvolution-1", {y, stepped(n, {80, 1, 1, 3, 3})}, windows(2, 1, 1))));
}
spec::AttributeTexts averages(const std::string& stride, const std::string& pad, const std::string& exclude) {
  return {{"kernel", "3,3"},
          {"strides", stride + "," + stride},
          {"pads_begin", pad + "," + pad},
          {"pads_end", pad + "," + pad},
          {"exclude-pad", exclude},
          {"rounding_type", "floor"}};
}
void average(Net& n) {  // zeros around the plane count
  n.result(quantized(n, n.op("AvgPool-1", {quantized(n, n.input({2, 70, 9, 11}))}, averages("1", "1", "false"))));
}
void average_inside(Net& n) {
  n.result(n.op("AvgPool-1", {quantized(n, n.input({1, 24, 9, 11}))}, averages("2", "0", "true")));
}
/// Zeros that do not count: its input is levels for the others that read it.
void average_of_others(Net& n) {
  const auto x = n.op("Convolution-1", {quantized(n, n.input({1, 20, 9, 11})), stepped(n, {40, 20, 1, 1})}, windows(2));
  const auto y = quantized(n, x);
  n.result(softmax(n, n.op("AvgPool-1", {y}, averages("1", "1", "true"))));
  n.result(relu(n, n.op("Convolution-1", {y, stepped(n, {18, 40, 1, 1})}, windows(2))));
}
void spelled_slopes(Net& n) {
  const auto y = biased(n, convolution(n, n.input({1, 24, 6, 6}), "Convolution-1", {40, 24, 1, 1}), 40);
  n.result(quantized(n, sloped(n, y, n.weights({1, 40, 1, 1}))));
}
void activated_depthwise(Net& n) {
  const auto y = n.op("HSwish-4",
                      {biased(n, convolution(n, n.input({2, 21, 9, 40}), "GroupConvolution-1", {21, 1, 1, 3, 3}), 21)});
  n.result(quantized(n, y));
}
void activated_depthwise_f32(Net& n) {
  const auto y = convolution(n, n.input({1, 70, 9, 9}), "GroupConvolution-1", {70, 1, 1, 3, 3});
  n.result(n.op("Convolution-1", {n.op("Sigmoid-1", {y}), n.weights({18, 70, 1, 1})}, windows(2)));
}

/// Where a normalization comes between the activation and the levels.
void normalized_levels(Net& n) {
  const auto y = relu(n, biased(n, convolution(n, n.input({1, 24, 6, 6}), "Convolution-1", {40, 24, 1, 1}), 40));
  const auto z = n.op("Add-1", {n.op("Multiply-1", {y, n.weights({1, 40, 1, 1})}), n.weights({1, 40, 1, 1})});
  n.result(quantized(n, z));
}
void normalized_sum(Net& n) {
  const auto y = convolution(n, n.input({1, 24, 6, 6}), "Convolution-1", {40, 24, 1, 1});
  const auto z = n.op("Add-1", {n.op("Multiply-1", {y, n.weights({1, 40, 1, 1})}), n.weights({1, 40, 1, 1})});
  n.result(quantized(n, z));
}
/// In front of levels that do not fit bytes it is left alone.
void normalized_many_levels(Net& n) {
  const auto y = relu(n, biased(n, convolution(n, n.input({1, 24, 6, 6}), "Convolution-1", {40, 24, 1, 1}), 40));
  const auto low = n.numbers({-2}, {}), high = n.numbers({2}, {});
  n.result(n.op("FakeQuantize-1", {n.op("Multiply-1", {y, n.weights({1, 40, 1, 1})}), low, high, low, high},
                {{"levels", "1001"}}));
}
/// An activation of the sum with a residual; bounds come before the levels of the first summand.
void activated_sum(Net& n) {
  const auto x = quantized(n, n.input({1, 15, 6, 6}));
  const auto y = quantized(n, relu(n, n.op("Convolution-1", {x, stepped(n, {15, 15, 3, 3})}, windows(2, 1, 1))));
  n.result(quantized(n, n.op("PRelu-1", {n.op("Add-1", {y, x}), n.weights({15})})));
}
void activated_sum_f32(Net& n) {
  const auto x = n.input({1, 15, 6, 6});
  const auto y = biased(n, convolution(n, x, "Convolution-1", {15, 15, 3, 3}), 15);
  n.result(softmax(n, n.op("Elu-1", {n.op("Add-1", {y, passing(n, x)})}, {{"alpha", "1"}})));
}
/// Half of the last panel counts.
void winograd_half(Net& n) {
  n.result(quantized(n, convolution(n, n.input({2, 65, 16, 15}), "Convolution-1", {80, 65, 3, 3})));
}
void winograd_half_f32(Net& n) {
  const auto x = n.input({1, 64, 16, 15});
  n.result(relu(n, n.op("Add-1", {convolution(n, x, "Convolution-1", {72, 64, 3, 3}), n.input({1, 72, 16, 15})})));
}
/// 16 columns: levels with bounds of each, two short rows at a time, f32 beside a residual.
void sixteen_levels(Net& n) {
  const auto y = relu(n, biased(n, convolution(n, n.input({2, 24, 7, 7}), "Convolution-1", {12, 24, 3, 3}), 12));
  const auto z = n.op("Add-1", {n.op("Multiply-1", {y, n.weights({1, 12, 1, 1})}), n.weights({1, 12, 1, 1})});
  n.result(quantized(n, z));
}
void sixteen_f32(Net& n) {
  const auto x = n.input({1, 24, 7, 7});
  n.result(relu(n, n.op("Add-1", {convolution(n, x, "Convolution-1", {45, 24, 3, 3}), n.input({1, 45, 7, 7})})));
}
void winograd_activated_levels(Net& n) {  // 13 columns: the last tile has one
  const auto y = swish(n, biased(n, convolution(n, n.input({1, 64, 16, 13}), "Convolution-1", {80, 64, 3, 3}), 80));
  n.result(n.op("Convolution-1", {quantized(n, y), stepped(n, {18, 80, 1, 1})}, windows(2)));
}
void winograd_activated(Net& n) {  // lanes beyond the last channel stay 0
  const auto y = convolution(n, n.input({1, 64, 14, 15}), "Convolution-1", {70, 64, 3, 3});
  n.result(n.op("Convolution-1", {n.op("Sigmoid-1", {y}), n.weights({18, 70, 1, 1})}, windows(2)));
}
void winograd_activated_residual(Net& n) {
  const auto x = quantized(n, n.input({1, 64, 16, 15}));
  const auto y = quantized(n, swish(n, n.op("Convolution-1", {x, stepped(n, {64, 64, 3, 3})}, windows(2, 1, 1))));
  n.result(quantized(n, n.op("Add-1", {y, x})));
}
void winograd_activated_sum(Net& n) {
  const auto x = n.input({1, 64, 16, 14});
  const auto y = swish(n, biased(n, convolution(n, x, "Convolution-1", {64, 64, 3, 3}), 64));
  n.result(quantized(n, n.op("Elu-1", {n.op("Add-1", {y, passing(n, x)})}, {{"alpha", "1"}})));
}

/// Limits as f16 rounds them: 0 is beside a level.
void limits_of_f16(Net& n) {
  const auto low = n.numbers({-2.001F}, {}), high = n.numbers({2 - 1.0F / 64 - 0.001F}, {});
  const auto x = n.op("FakeQuantize-1", {n.input({1, 40, 7, 7}), low, high, low, high}, {{"levels", "256"}});
  n.result(n.op("Convolution-1", {x, stepped(n, {15, 40, 3, 3})}, windows(2, 1, 1)));
}

const Texts kWideVolume{{"strides", "1,2,1"}, {"dilations", "3,1,2"}, {"pads_begin", "8,1,2"}, {"pads_end", "7,0,1"}};
/// Slices that only padding reaches, and planes of the kernel that no slice meets.
void volume(Net& n) {
  const auto x =
      n.op("Convolution-1", {quantized(n, n.input({2, 36, 2, 6, 7})), stepped(n, {33, 36, 3, 2, 3})}, kWideVolume);
  n.result(quantized(n, n.op("Add-1", {x, n.weights({1, 33, 1, 1, 1})})));
}
void volume_in_bands(Net& n) {
  const auto x = quantized(n, n.input({1, 24, 9, 35, 36}));
  n.result(relu(n, n.op("Convolution-1", {x, stepped(n, {17, 24, 3, 3, 2})}, windows(3, 1, 1))));
}
void film(Net& n) {
  const auto x = quantized(n, n.input({2, 3, 5, 12, 13}));
  n.result(relu(n, n.op("Convolution-1", {x, stepped(n, {18, 3, 3, 5, 5})}, windows(3, 2, 2))));
}
void volume_depthwise(Net& n) {
  const auto y = n.op("GroupConvolution-1", {quantized(n, n.input({2, 21, 6, 9, 8})), stepped(n, {21, 1, 1, 3, 2, 3})},
                      kWideVolume);
  n.result(quantized(n, y));
}
void volume_winograd(Net& n) {
  const auto x = quantized(n, n.input({2, 96, 3, 16, 15}));
  const auto y = n.op("Convolution-1", {x, stepped(n, {70, 96, 3, 3, 3})}, windows(3, 1, 1));
  n.result(quantized(n, relu(n, n.op("Add-1", {y, n.weights({1, 70, 1, 1, 1})}))));
}
/// Of an expansion of volumes no rows are kept for what follows it.
void volume_expanded(Net& n) {
  const auto x = quantized(n, n.input({1, 16, 3, 6, 7}));
  const auto y = quantized(n, relu(n, n.op("Convolution-1", {x, stepped(n, {32, 16, 1, 1, 1})}, windows(3))));
  const auto z = n.op("GroupConvolution-1", {y, stepped(n, {32, 1, 1, 3, 3, 3})}, windows(3, 1, 1));
  n.result(n.op("Convolution-1", {quantized(n, relu(n, z)), stepped(n, {16, 32, 1, 1, 1})}, windows(3)));
}
/// Two pixels of 32 channels, or four of 16, at a time, and those that are left.
void depthwise_of_few(Net& n) {
  for (const i64 channels : {16, 30}) {
    const auto x = quantized(n, n.input({1, channels, 9, 7}));
    n.result(quantized(n, n.op("GroupConvolution-1", {x, stepped(n, {channels, 1, 1, 5, 5})}, windows(2, 1, 2))));
  }
}
void depthwise_of_few_f32(Net& n) {
  for (const i64 channels : {12, 32}) {
    const auto x = quantized(n, n.input({2, channels, 13, 9}));
    n.result(relu(n, n.op("GroupConvolution-1", {x, stepped(n, {channels, 1, 1, 7, 3})}, windows(2, 2, 3))));
  }
}

/// A value on the border of two levels may be rounded otherwise than in f32.
constexpr float kLevel = 1.0F / 64;
constexpr float kChannelsLevel = 4 * kLevel;  // of quantized_by_channel(), whose levels are up to 4 / 64 apart

// clang-format off
constexpr Example kExamples[] = {
    {"int8.convolution+bias+Relu", pointwise, kOften, kFixed, true, 5e-6F, Precision::int8},
    {"int8.convolution+bias+Relu", pointwise, kOnce, kOpen, true, 5e-6F, Precision::int8},
    {"int8.convolution+FakeQuantize", direct_quantized, kOnce, kFixed, true, kLevel, Precision::int8},
    {"int8.convolution+bias", positive, kOften, kFixed, true, kLevel, Precision::int8},
    {"int8.convolution+residual+Relu", positive_sum, kOften, kFixed, true, 5e-6F, Precision::int8},
    {"int8.convolution+Relu", image, kOften, kFixed, true, 5e-6F, Precision::int8},
    {"int8.convolution+residual+Relu", sampled_image, kOften, kFixed, true, 5e-6F, Precision::int8},
    {"int8.convolution+bias+Relu+MaxPool+FakeQuantize", pooled_image, kOften, kFixed, true, kLevel, Precision::int8},
    {"int8_depthwise.convolution+bias", depthwise, kOnce, kFixed, true, 5e-6F, Precision::int8},
    {"int8_depthwise.convolution", depthwise_by_channel, kOften, kFixed, true, 5e-6F, Precision::int8},
    {"int8.convolution+Relu+FakeQuantize", bounds_by_channel, kOften, kFixed, true, kChannelsLevel, Precision::int8},
    {"int8.convolution+Relu+FakeQuantize", bounds_by_channel, kOnce, kFixed, true, kChannelsLevel, Precision::int8},
    {"int8_depthwise.convolution", padded_depthwise, kOften, kFixed, true, 5e-6F, Precision::int8},
    {"int8.convolution", padded_image, kOnce, kFixed, true, 5e-6F, Precision::int8},
    {"int8.convolution+Relu+FakeQuantize", grouped, kOften, kFixed, true, kLevel, Precision::int8},
    {"int8.convolution", grouped_by_steps, kOnce, kFixed, true, 5e-6F, Precision::int8},
    {"int8.convolution+bias", grouped_across, kOnce, kFixed, true, 5e-6F, Precision::int8},
    {"int8.convolution+FakeQuantize+residual+Relu+FakeQuantize", residual, kOften, kFixed, true, kLevel,
     Precision::int8},
    {"int8_winograd4.convolution+bias+residual+Relu", winograd, kOften, kFixed, true, 5e-6F, Precision::int8},
    {"int8.convolution+bias+residual+Relu", winograd, kOnce, kFixed, true, 5e-6F, Precision::int8},
    {"int8.convolution+bias+residual+Relu", residual_f32, kOften, kFixed, true, 5e-6F, Precision::int8},
    {"int8.convolution+bias+Sigmoid", activated, kOften, kFixed, true, 5e-6F, Precision::int8},
    {"int8.convolution+bias+Swish+FakeQuantize", activated_levels, kOften, kFixed, true, kLevel, Precision::int8},
    {"int8.convolution+bias+Sigmoid+Multiply+FakeQuantize", gated_levels, kOften, kFixed, true, kLevel,
     Precision::int8},
    {"int8.convolution+Swish+FakeQuantize+residual+FakeQuantize", activated_residual, kOften, kFixed, true, kLevel,
     Precision::int8},
    {"int8.convolution+Swish+residual", activated_residual_f32, kOnce, kFixed, true, 5e-6F, Precision::int8},
    {"int8.convolution+bias+PRelu+FakeQuantize", slopes, kOften, kFixed, true, kLevel, Precision::int8},
    {"int8_winograd4.convolution+PRelu+FakeQuantize", leaky, kOften, kFixed, true, 2 * kLevel, Precision::int8},
    {"int8_depthwise.convolution+PRelu+FakeQuantize", leaky, kOnce, kFixed, true, 2 * kLevel, Precision::int8},
    {"int8.convolution+bias+FakeQuantize", volume, kOften, kFixed, true, kLevel, Precision::int8},
    {"int8_winograd4.convolution+bias+Relu+FakeQuantize", volume_winograd, kOften, kFixed, true, kLevel,
     Precision::int8},
    {"int8.convolution+Relu", volume_in_bands, kOften, kFixed, true, 5e-6F, Precision::int8},
    {"int8.convolution+Relu", film, kOnce, kFixed, true, 5e-6F, Precision::int8},
    {"int8_depthwise.convolution+FakeQuantize", volume_depthwise, kOften, kFixed, true, kLevel, Precision::int8},
    {"int8_depthwise.convolution+Relu+FakeQuantize", volume_expanded, kOften, kFixed, true, 2 * kLevel,
     Precision::int8},
    {"int8_depthwise.convolution+FakeQuantize", depthwise_of_few, kOften, kFixed, true, kLevel, Precision::int8},
    {"int8_depthwise.convolution+Relu", depthwise_of_few_f32, kOften, kFixed, true, 5e-6F, Precision::int8},
    {"int8.average_pool+FakeQuantize", average, kOften, kFixed, true, kLevel, Precision::int8},
    {"int8.average_pool", average_inside, kOnce, kFixed, true, 5e-6F, Precision::int8},
    {"int8.convolution+FakeQuantize", average_of_others, kOften, kFixed, true, kLevel, Precision::int8},
    {"int8.convolution+bias+Select+FakeQuantize", spelled_slopes, kOften, kFixed, true, kLevel, Precision::int8},
    {"int8_depthwise.convolution+bias+HSwish+FakeQuantize", activated_depthwise, kOften, kFixed, true, kLevel,
     Precision::int8},
    {"int8_depthwise.convolution+Sigmoid", activated_depthwise_f32, kOften, kFixed, true, 5e-6F, Precision::int8},
    {"int8.convolution", zero_points, kOften, kFixed, true, 5e-6F, Precision::int8},
    {"int8_depthwise.convolution", zero_points_depthwise, kOnce, kFixed, true, 5e-6F, Precision::int8},
    {"int8.convolution", shared_weights, kOften, kFixed, true, kLevel, Precision::int8},
    {"int8.convolution", residual_of_one_pixel, kOften, kFixed, true, 5e-6F, Precision::int8},
    {"int8.convolution+residual+FakeQuantize", residual_f32_quantized, kOnce, kFixed, true, kLevel, Precision::int8},
    {"int8.convolution+bias+Relu+Multiply+Add+FakeQuantize", normalized_levels, kOften, kFixed, true, kLevel,
     Precision::int8},
    {"int8.convolution+bias+Relu", normalized_many_levels, kOften, kFixed, true, kLevel, Precision::int8},
    {"int8.convolution+Multiply+Add+FakeQuantize", normalized_sum, kOnce, kFixed, true, kLevel, Precision::int8},
    {"int8.convolution+Relu+FakeQuantize+residual+PRelu+FakeQuantize", activated_sum, kOften, kFixed, true, kLevel,
     Precision::int8},
    {"int8.convolution+bias+residual+Elu", activated_sum_f32, kOften, kFixed, true, 5e-6F, Precision::int8},
    {"int8_winograd4.convolution+residual+Relu", winograd_half_f32, kOften, kFixed, true, 5e-6F, Precision::int8},
    {"int8.convolution+bias+Relu+Multiply+Add+FakeQuantize", sixteen_levels, kOften, kFixed, true, kLevel,
     Precision::int8},
    {"int8.convolution+residual+Relu", sixteen_f32, kOften, kFixed, true, 5e-6F, Precision::int8},
    {"int8_winograd4.convolution+FakeQuantize", winograd_half, kOften, kFixed, true, kLevel, Precision::int8},
    {"int8_winograd4.convolution+bias+Swish+FakeQuantize", winograd_activated_levels, kOften, kFixed, true, kLevel,
     Precision::int8},
    {"int8_winograd4.convolution+Sigmoid", winograd_activated, kOften, kFixed, true, 5e-6F, Precision::int8},
    {"int8_winograd4.convolution+Swish+FakeQuantize+residual+FakeQuantize", winograd_activated_residual, kOften, kFixed,
     true, kLevel, Precision::int8},
    {"int8_winograd4.convolution+bias+Swish+residual+Elu+FakeQuantize", winograd_activated_sum, kOften, kFixed, true,
     kLevel, Precision::int8},
    {"int8.convolution", limits_of_f16, kOften, kFixed, false, kLevel, Precision::int8},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"int8_convolution", kExamples};

}  // namespace ovir::testing::patterns::int8_convolution
