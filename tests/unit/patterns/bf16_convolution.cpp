#include "pattern_examples.hpp"

namespace ovir::testing::patterns::bf16_convolution {
namespace {

/// Operands are rounded to 8 bits, by Winograd once more when they are transformed.
constexpr float kBf16 = 1e-2F, kWinograd = 1.5e-2F, kFewLayers = 2e-2F;

void winograd(Net& n) {
  const auto x = n.input({2, 61, 9, 8});
  const auto y = biased(n, convolution(n, x, {61, 61, 3, 3}, windows(2, 1, 1)), 61);
  n.result(relu(n, n.op("Add-1", {x, y})));
}

/// As in front of a speech model: samples, few of which each output reads.
void samples(Net& n) {
  const auto x = convolution(n, n.input({2, 1, 403}), {40, 1, 10}, windows(1, 5));
  const auto y = n.op("Gelu-7", {n.op("Add-1", {x, n.weights({1, 40, 1})})}, {{"approximation_mode", "erf"}});
  n.result(convolution(n, y, {8, 40, 3}, windows(1, 2)));
}
/// One channel, padded, and an odd number of columns.
/// Every other pixel of images of one and of three channels.
void sampled_images(Net& n) {
  for (const i64 channels : {1, 3})
    n.result(relu(n, convolution(n, n.input({2, channels, 13, 10}), {18, channels, 1, 1}, windows(2, 2))));
}
void gray_image(Net& n) { n.result(relu(n, convolution(n, n.input({1, 1, 12, 13}), {6, 1, 5, 5}, windows(2, 1, 2)))); }

void normalizations(Net& n) {
  const auto x = convolution(n, n.input({1, 20, 9, 7}), {40, 20, 3, 3}, windows(2, 2, 1));
  const auto y =
      n.op("GroupConvolution-1", {relu(n, normalized(n, x, 40)), n.weights({40, 1, 1, 3, 3})}, windows(2, 1, 1));
  n.result(relu(n, normalized(n, y, 40)));
}

/// Two by two places of each pixel, of outputs that do not fill their panels.
void unfolded(Net& n) {
  const auto x = n.input({2, 40, 5, 17});
  const auto y = biased(n, n.op("ConvolutionBackpropData-1", {x, n.weights({40, 36, 2, 2})}, windows(2, 2)), 36);
  n.result(n.op("Swish-4", {n.op("Add-1", {y, n.input({2, 36, 10, 34})})}));
}
/// Tiles of 2 × 2 pixels at all ends, with what loops of tiles do not compute.
void winograd_activated(Net& n) {
  const auto y = biased(n, convolution(n, n.input({2, 58, 7, 37}), {60, 58, 3, 3}, windows(2, 1, 1)), 60);
  n.result(n.op("Swish-4", {n.op("Add-1", {y, n.input({2, 60, 7, 37})})}));
}
/// What is added is read once more behind the activation, and by nobody else.
void residual_last(Net& n) {
  const auto x = n.input({1, 32, 8, 8});
  const auto other = n.op("Exp-1", {n.op("Sin-1", {convolution(n, x, {32, 32, 1, 1}, windows(2))})});
  const auto y = relu(n, biased(n, convolution(n, x, {32, 32, 1, 1}, windows(2)), 32));
  n.result(convolution(n, n.op("Sin-1", {n.op("Add-1", {y, other})}), {8, 32, 1, 1}, windows(2)));
}
/// Branches beside a convolution, one of them what it reads.
int scaled(Net& n, int x, i64 channels) { return n.op("Multiply-1", {x, n.weights({1, channels, 1, 1})}); }
void branches(Net& n) {
  const auto x = n.input({2, 60, 9, 7});
  const auto y = convolution(n, x, {60, 60, 1, 1}, windows(2)), z = convolution(n, x, {60, 60, 3, 3}, windows(2, 1, 1));
  n.result(relu(n, n.op("Add-1", {n.op("Add-1", {y, biased(n, scaled(n, z, 60), 60)}), scaled(n, x, 60)})));
}
void branches_by_channel(Net& n) {
  const auto x = n.input({1, 48, 9, 8});
  const auto y = n.op("GroupConvolution-1", {x, n.weights({48, 1, 1, 3, 3})}, windows(2, 1, 1));
  const auto z = n.op("GroupConvolution-1", {x, n.weights({48, 1, 1, 1, 1})}, windows(2));
  n.result(relu(n, n.op("Add-1", {n.op("Add-1", {y, z}), x})));
}

/// Groups of 16 and of 8, also half a panel alone.
void grouped(Net& n) {
  const auto x = n.input({2, 48, 9, 8});
  const auto y = n.op("GroupConvolution-1", {x, n.weights({3, 16, 16, 3, 3})}, windows(2, 1, 1));
  n.result(relu(n, n.op("Add-1", {biased(n, y, 48), passing(n, x)})));
}
void grouped_strided(Net& n) {
  const auto y = n.op("GroupConvolution-1", {n.input({1, 40, 9, 8}), n.weights({5, 8, 8, 3, 3})}, windows(2, 2, 1));
  n.result(relu(n, y));
}

int biased_volume(Net& n, int x, i64 channels) { return n.op("Add-1", {x, n.weights({1, channels, 1, 1, 1})}); }
/// Slices that only padding reaches, and planes of the kernel that no slice meets.
void volume_dilated(Net& n) {
  const Texts wide{{"strides", "1,2,1"}, {"dilations", "3,1,2"}, {"pads_begin", "8,1,2"}, {"pads_end", "7,0,1"}};
  n.result(n.op("Sigmoid-1", {convolution(n, n.input({2, 36, 2, 6, 7}), {33, 36, 3, 2, 3}, wide)}));
}
/// Bands of whole slices, and of rows of one.
void volume_strided(Net& n) {
  const auto x = n.input({1, 40, 17, 7, 8});
  n.result(relu(n, biased_volume(n, convolution(n, x, {36, 40, 3, 3, 3}, windows(3, 2, 1)), 36)));
}
void volume_in_bands(Net& n) {
  const auto x = n.input({1, 32, 5, 63, 60});
  n.result(relu(n, biased_volume(n, convolution(n, x, {8, 32, 3, 2, 3}, windows(3, 1, 1)), 8)));
}
void volume_winograd(Net& n) {
  const auto x = n.input({2, 94, 4, 9, 8});
  const auto y = biased_volume(n, convolution(n, x, {90, 94, 3, 3, 3}, windows(3, 1, 1)), 90);
  n.result(relu(n, n.op("Add-1", {y, n.input({2, 90, 4, 9, 8})})));
}
/// Few channels, as a film has.
void film(Net& n) { n.result(relu(n, convolution(n, n.input({2, 3, 5, 12, 13}), {18, 3, 3, 5, 5}, windows(3, 2, 2)))); }
void volume_pixels(Net& n) {
  n.result(relu(n, convolution(n, n.input({1, 40, 3, 5, 7}), {33, 40, 1, 1, 1}, windows(3))));
}
/// What lies between in bf16: parts of the channels, a sum, means by which channels are scaled, some slices.
void volume_parts(Net& n) {
  const auto x = relu(n, convolution(n, n.input({2, 33, 4, 5, 6}), {64, 33, 1, 1, 1}, windows(3)));
  const auto y = n.op("Split-1", {x, n.index(1)}, {{"num_splits", "2"}}, 2);
  const auto a = convolution(n, y, {32, 32, 1, 1, 1}, windows(3)), b = n.op("Add-1", {y, a});
  const auto z = n.op("Concat-1", {a, b}, {{"axis", "1"}});
  const auto mean = n.op("ReduceMean-1", {z, n.indices({2, 3, 4})}, {{"keep_dims", "true"}});
  const auto scaled = n.op("Multiply-1", {z, n.op("Sigmoid-1", {mean})});
  n.result(convolution(n, scaled, {8, 64, 3, 1, 1}, windows(3)));
}
void volume_depthwise(Net& n) {
  const Texts wide{{"strides", "2,1,2"}, {"dilations", "1,2,1"}, {"pads_begin", "1,2,1"}, {"pads_end", "1,2,0"}};
  const auto y = n.op("GroupConvolution-1", {n.input({2, 40, 6, 9, 8}), n.weights({40, 1, 1, 3, 3, 3})}, wide);
  n.result(n.op("Swish-4", {biased_volume(n, y, 40)}));
}

// clang-format off
constexpr Example kExamples[] = {
    {"bf16.convolution+bias+residual+Relu", grouped, kOften, kFixed, true, kBf16, Precision::bf16},
    {"bf16.convolution+Relu", grouped_strided, kOften, kFixed, true, kBf16, Precision::bf16},
    {"bf16_winograd2.convolution+sum+bias+Relu", branches, kOften, kFixed, true, kWinograd, Precision::bf16},
    {"bf16_depthwise.convolution+sum+Relu", branches_by_channel, kOften, kFixed, true, kBf16, Precision::bf16},
    {"bf16.convolution+bias+HSwish", pointwise, kOften, kFixed, true, kBf16, Precision::bf16},
    {"bf16.convolution+bias+residual+Relu", direct_residual, kOnce, kFixed, true, kBf16, Precision::bf16},
    {"bf16_winograd2.convolution+bias+residual+Relu", winograd, kOften, kFixed, true, kWinograd, Precision::bf16},
    {"bf16.convolution+bias+Gelu", samples, kOften, kFixed, true, kBf16, Precision::bf16},
    {"bf16.convolution+bias+Relu+residual", residual_last, kOften, kFixed, true, kFewLayers, Precision::bf16},
    {"bf16_transposed.convolution+bias+residual+Swish", unfolded, kOften, kFixed, true, kBf16, Precision::bf16},
    {"bf16_winograd2.convolution+bias+residual+Swish", winograd_activated, kOften, kFixed, true, kWinograd,
     Precision::bf16},
    {"bf16.convolution+Relu", sampled_images, kOften, kFixed, true, kBf16, Precision::bf16},
    {"bf16.convolution+Relu", gray_image, kOnce, kFixed, true, kBf16, Precision::bf16},
    {"bf16_depthwise.convolution+scale+bias+Relu", normalizations, kOften, kFixed, true, kBf16, Precision::bf16},
    {"bf16.convolution+Sigmoid", volume_dilated, kOften, kFixed, true, kBf16, Precision::bf16},
    {"bf16.convolution+bias+Relu", volume_strided, kOften, kFixed, true, kBf16, Precision::bf16},
    {"bf16.convolution+bias+Relu", volume_in_bands, kOnce, kFixed, true, kBf16, Precision::bf16},
    {"bf16_winograd2.convolution+bias+residual+Relu", volume_winograd, kOften, kFixed, true, kWinograd,
     Precision::bf16},
    {"bf16.convolution+Relu", film, kOften, kFixed, true, kBf16, Precision::bf16},
    {"bf16.convolution+Relu", volume_pixels, kOften, kFixed, true, kBf16, Precision::bf16},
    {"bf16.convolution", volume_parts, kOften, kFixed, true, kFewLayers, Precision::bf16},
    {"bf16_depthwise.convolution+bias+Swish", volume_depthwise, kOften, kFixed, true, kBf16, Precision::bf16},
    {"bf16_depthwise.convolution+bias+Clamp", depthwise, kOften, kFixed, true, kBf16, Precision::bf16},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"bf16_convolution", kExamples};

}  // namespace ovir::testing::patterns::bf16_convolution
