#include "pattern_examples.hpp"

namespace ovir::testing::patterns::volume_convolution {
namespace {

int biased_volume(Net& n, int x, i64 channels) { return n.op("Add-1", {x, n.weights({1, channels, 1, 1, 1})}); }

void direct(Net& n) {
  const auto x = n.input({2, 20, 4, 3, 3});
  n.result(relu(n, biased_volume(n, convolution(n, x, {18, 20, 3, 3, 3}, windows(3, 1, 1)), 18)));
}
void few_channels(Net& n) {
  const auto x = n.input({1, 3, 6, 12, 11});
  n.result(biased_volume(n, convolution(n, x, {17, 3, 3, 5, 5}, windows(3, 2, 2)), 17));
}
/// Slices that only padding reaches, and planes of the kernel that no slice meets.
void dilated(Net& n) {
  const Texts wide{{"strides", "1,2,1"}, {"dilations", "3,1,2"}, {"pads_begin", "8,1,2"}, {"pads_end", "7,0,1"}};
  n.result(n.op("Sigmoid-1", {convolution(n, n.input({1, 16, 2, 6, 7}), {16, 16, 3, 2, 3}, wide)}));
}
void strided(Net& n) { n.result(convolution(n, n.input({1, 24, 9, 7, 8}), {33, 24, 3, 3, 3}, windows(3, 2, 1))); }
void winograd2(Net& n) {
  const auto y = biased_volume(n, convolution(n, n.input({1, 40, 3, 9, 7}), {35, 40, 3, 3, 3}, windows(3, 1, 1)), 35);
  n.result(n.op("Add-1", {n.op("Swish-4", {y}), n.input({1, 35, 3, 9, 7})}));
}
void winograd4(Net& n) {
  const auto x = n.input({2, 32, 3, 25, 26});
  n.result(
      relu(n, n.op("Add-1", {convolution(n, x, {34, 32, 3, 3, 3}, windows(3, 1, 1)), n.input({2, 34, 3, 25, 26})})));
}
void winograd4_narrow(Net& n) {  // whose outputs are half a panel, and whose channels are few, but not with all planes
  const auto x = n.input({1, 17, 4, 25, 26});
  n.result(relu(n, biased_volume(n, convolution(n, x, {16, 17, 3, 3, 3}, windows(3, 1, 1)), 16)));
}
void winograd4_few(Net& n) {  // half a block of channels, all of whose planes are summed before the last transform
  const auto x = n.input({1, 8, 4, 25, 26});
  n.result(relu(n, n.op("Add-1", {convolution(n, x, {9, 8, 3, 3, 3}, windows(3, 1, 1)), n.input({1, 9, 4, 25, 26})})));
}
/// By a few channels, which lie plainly; the second one has slices without any data.
void blurred(Net& n) {
  const auto x = n.input({2, 3, 5, 12, 20});
  const auto y = n.op("GroupConvolution-1", {x, n.weights({3, 1, 1, 3, 3, 3})}, windows(3, 1, 1));
  n.result(relu(n, n.op("Add-1", {biased_volume(n, y, 3), x})));
}
void blurred_wide(Net& n) {
  const Texts wide{{"strides", "1,2,1"}, {"dilations", "3,1,2"}, {"pads_begin", "8,1,2"}, {"pads_end", "7,0,1"}};
  n.result(n.op("GroupConvolution-1", {n.input({1, 2, 2, 9, 33}), n.weights({2, 2, 1, 3, 2, 3})}, wide));
}
/// Of kernels that are flat, or a line along the first axis.
void flat(Net& n) {
  const Texts plane{{"strides", "1,1,1"}, {"dilations", "1,1,1"}, {"pads_begin", "0,1,1"}, {"pads_end", "0,1,1"}};
  n.result(convolution(n, n.input({1, 18, 4, 5, 5}), {20, 18, 1, 3, 3}, plane));
}
void line(Net& n) {
  const Texts deep{{"strides", "1,1,1"}, {"dilations", "1,1,1"}, {"pads_begin", "1,0,0"}, {"pads_end", "1,0,0"}};
  const auto x = convolution(n, n.input({1, 18, 5, 6, 7}), {20, 18, 3, 1, 1}, deep);
  n.result(n.op("PRelu-1", {x, n.weights({20})}));
}
void pixels_sloped(Net& n) {
  const auto x = convolution(n, n.input({1, 18, 5, 6, 7}), {20, 18, 1, 1, 1}, windows(3));
  n.result(sloped(n, x, n.weights({1, 20, 1, 1, 1})));
}
void depthwise(Net& n) {
  const auto x = n.input({1, 24, 4, 8, 7});
  n.result(n.op("GroupConvolution-1", {x, n.weights({24, 1, 1, 3, 3, 3})}, windows(3, 1, 1)));
}
/// With slices that meet nothing but padding, and pixels that don't lie side by side.
void depthwise_wide(Net& n) {
  const Texts wide{{"strides", "1,2,1"}, {"dilations", "3,1,2"}, {"pads_begin", "8,1,2"}, {"pads_end", "7,0,1"}};
  const auto y = n.op("GroupConvolution-1", {n.input({2, 20, 2, 9, 33}), n.weights({20, 1, 1, 3, 2, 3})}, wide);
  n.result(n.op("Sigmoid-1", {biased_volume(n, y, 20)}));
}
/// Between values in blocks.
void depthwise_added(Net& n) {
  const auto x = relu(n, convolution(n, n.input({1, 20, 5, 9, 8}), {18, 20, 1, 1, 1}, windows(3)));
  const auto y = n.op("GroupConvolution-1", {x, n.weights({18, 1, 1, 3, 5, 5})},
                      {{"strides", "1,1,1"}, {"dilations", "1,1,1"}, {"pads_begin", "1,2,2"}, {"pads_end", "1,2,2"}});
  n.result(
      convolution(n, n.op("Add-1", {n.op("Swish-4", {biased_volume(n, y, 18)}), x}), {20, 18, 1, 1, 1}, windows(3)));
}
/// As at the end of nets that segment.
void few_outputs(Net& n) {
  n.result(
      n.op("Sigmoid-1", {biased_volume(n, convolution(n, n.input({2, 6, 4, 5, 7}), {3, 6, 1, 1, 1}, windows(3)), 3)}));
}
/// Behind a value in blocks.
void few_outputs_of_blocks(Net& n) {
  const auto x = convolution(n, n.input({1, 24, 4, 6, 7}), {8, 24, 3, 3, 3}, windows(3, 1, 1));
  const auto y = relu(n, convolution(n, x, {2, 8, 1, 1, 1}, windows(3)));
  n.result(convolution(n, y, {18, 2, 3, 3, 3}, windows(3, 1, 1)));
}
void long_lines(Net& n) {
  const Texts deep{{"strides", "1,1,1"}, {"dilations", "1,1,1"}, {"pads_begin", "1,0,0"}, {"pads_end", "1,0,0"}};
  const auto x = convolution(n, n.input({1, 33, 8, 6, 7}), {40, 33, 3, 1, 1}, deep);
  n.result(n.op("Swish-4", {biased_volume(n, x, 40)}));
}
/// Output slices of which nothing but padding is seen.
void padded_point(Net& n) {
  const Texts deep{{"strides", "1,1,1"}, {"dilations", "1,1,1"}, {"pads_begin", "1,0,0"}, {"pads_end", "0,0,0"}};
  const auto x = convolution(n, n.input({1, 18, 5, 6, 7}), {20, 18, 1, 1, 1}, deep);
  n.result(relu(n, biased_volume(n, x, 20)));
}
void point(Net& n) {
  const auto x = convolution(n, n.input({2, 18, 5, 6, 7}), {20, 18, 1, 1, 1}, windows(3));
  n.result(relu(n, biased_volume(n, x, 20)));
}
/// By Winograd along the first axis, blocked up to one of single values.
void slices(Net& n) {
  const Texts deep{{"strides", "1,1,1"}, {"dilations", "1,1,1"}, {"pads_begin", "1,0,0"}, {"pads_end", "1,0,0"}};
  const auto x = convolution(n, n.input({2, 40, 9, 6, 7}), {64, 40, 3, 1, 1}, deep);
  const auto y = relu(n, biased_volume(n, x, 64));
  n.result(n.op("Swish-4", {convolution(n, y, {20, 64, 1, 1, 1}, windows(3))}));
}
void slices_added(Net& n) {
  const Texts wide{{"strides", "1,1,1"}, {"dilations", "4,1,1"}, {"pads_begin", "4,0,0"}, {"pads_end", "3,0,0"}};
  const auto x = convolution(n, n.input({1, 33, 25, 4, 5}), {34, 33, 3, 1, 1}, wide);
  n.result(relu(n, n.op("Add-1", {x, n.input({1, 34, 24, 4, 5})})));
}
/// Before most slices there is padding: the first plane of the kernel meets nothing else.
void slices_behind(Net& n) {
  const Texts deep{{"strides", "1,1,1"}, {"dilations", "1,1,1"}, {"pads_begin", "8,0,0"}, {"pads_end", "0,0,0"}};
  n.result(convolution(n, n.input({1, 33, 2, 8, 5}), {34, 33, 3, 1, 1}, deep));
}
void computed(Net& n) {
  n.result(n.op("Convolution-1", {n.input({1, 16, 4, 3, 3}), relu(n, n.input({17, 16, 3, 3, 3}))}, windows(3, 1, 1)));
}
/// Of stride 1: convolutions of filters that are turned.
void turned(Net& n) {
  const Texts uneven{{"strides", "1,1,1"}, {"dilations", "1,1,2"}, {"pads_begin", "0,1,2"}, {"pads_end", "1,0,1"}};
  const auto y = n.op("ConvolutionBackpropData-1", {n.input({2, 20, 3, 8, 7}), n.weights({20, 18, 2, 2, 3})}, uneven);
  n.result(relu(n, n.op("Add-1", {y, n.weights({1, 18, 1, 1, 1})})));
}
void turned_winograd(Net& n) {
  n.result(
      n.op("ConvolutionBackpropData-1", {n.input({1, 36, 4, 24, 25}), n.weights({36, 40, 3, 3, 3})}, windows(3, 1, 1)));
}

/// Winograd multiplies by up to 8 on the way there and back.
constexpr float kWinograd = 2e-5F;

// clang-format off
constexpr Example kExamples[] = {
    {"volume.direct.convolution+bias+Relu", direct},
    {"volume.direct.convolution+bias+Relu", direct, kOnce},
    {"volume.direct.convolution+bias+Relu", direct, kOften, kOpen},
    {"volume.planar_depthwise.convolution+bias+residual+Relu", blurred},
    {"volume.planar_depthwise.convolution+bias+residual+Relu", blurred, kOnce},
    {"volume.planar_depthwise.convolution", blurred_wide, kOften, kOpen},
    {"volume.planar_depthwise.convolution", blurred_wide},
    {"volume.depthwise.convolution", depthwise},
    {"volume.depthwise.convolution", depthwise, kOnce, kOpen},
    {"volume.depthwise.convolution+bias+Sigmoid", depthwise_wide},
    {"volume.depthwise.convolution+bias+Sigmoid", depthwise_wide, kOnce},
    {"volume.depthwise.convolution+bias+Swish+residual", depthwise_added},
    {"volume.planar.convolution+bias", few_channels},
    {"volume.planar.convolution+bias", few_channels, kOnce, kOpen},
    {"volume.direct.convolution+Sigmoid", dilated},
    {"volume.direct.convolution", strided},
    {"volume.direct.convolution", strided, kOnce, kOpen},
    {"volume.winograd2.convolution+bias+Swish+residual", winograd2, kOften, kFixed, true, kWinograd},
    {"volume.winograd4.convolution+residual+Relu", winograd4, kOften, kFixed, true, kWinograd},
    {"volume.few_outputs.convolution+bias+Sigmoid", few_outputs},
    {"volume.few_outputs.convolution+bias+Sigmoid", few_outputs, kOnce},
    {"volume.few_outputs.convolution+Relu", few_outputs_of_blocks},
    {"volume.winograd4.convolution+residual+Relu", winograd4_few, kOften, kFixed, true, kWinograd},
    {"volume.winograd4.convolution+bias+Relu", winograd4_narrow, kOften, kFixed, true, kWinograd},
    {"volume.winograd4.convolution+bias+Relu", winograd4_narrow, kOnce, kFixed, true, kWinograd},
    {"volume.direct.convolution", flat},
    {"volume.pointwise.convolution+PRelu", line},
    {"volume.pointwise.convolution+PRelu", line, kOnce},
    {"volume.pointwise.convolution+Select", pixels_sloped},
    {"volume.winograd_line.convolution+bias+Swish", long_lines, kOften, kFixed, true, kWinograd},
    {"volume.winograd_line.convolution+bias+Swish", long_lines, kOnce, kFixed, true, kWinograd},
    {"volume.pointwise.convolution+bias+Relu", point},
    {"volume.pointwise.convolution+bias+Relu", padded_point},
    {"volume.winograd_line.convolution+bias+Relu", slices, kOften, kFixed, true, kWinograd},
    {"volume.winograd_line.convolution+bias+Relu", slices, kOnce, kFixed, true, kWinograd},
    {"volume.pointwise.convolution+Swish", slices, kOften, kFixed, true, kWinograd},
    {"volume.winograd_line.convolution+residual+Relu", slices_added, kOften, kFixed, true, kWinograd},
    {"volume.winograd_line.convolution", slices_behind, kOften, kFixed, true, kWinograd},
    {"volume.winograd_line.convolution", slices_behind, kOnce, kFixed, true, kWinograd},
    {"volume.direct.convolution", computed},
    {"volume.direct.convolution+bias+Relu", turned},
    {"volume.winograd4.convolution", turned_winograd, kOften, kFixed, true, kWinograd},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"volume_convolution", kExamples};

}  // namespace ovir::testing::patterns::volume_convolution
