// Convolutions of four and five taps a side, and of hundreds where channels are apart or there is one.
#include "pattern_examples.hpp"

namespace ovir::testing::patterns::large_taps {
namespace {

void four(Net& n) {
  n.result(relu(n, biased(n, convolution(n, n.input({1, 40, 21, 18}), {35, 40, 4, 4}, windows(2, 1, 1)), 35)));
}
void four_of_images(Net& n) {
  const auto y = convolution(n, n.input({3, 40, 9, 10}), {72, 40, 4, 4}, windows(2));
  n.result(n.op("Swish-4", {n.op("Add-1", {y, n.input({3, 72, 6, 7})})}));
}
void five(Net& n) {
  const auto y = biased(n, convolution(n, n.input({2, 40, 17, 13}), {35, 40, 5, 5}, windows(2, 1, 2)), 35);
  n.result(relu(n, n.op("Add-1", {y, n.input({2, 35, 17, 13})})));
}
void five_of_a_small_plane(Net& n) {
  n.result(relu(n, convolution(n, n.input({1, 48, 6, 6}), {40, 48, 5, 5}, windows(2, 1, 2))));
}
/// Whose tiles would be mostly beside it.
void four_of_a_small_plane(Net& n) {
  n.result(relu(n, convolution(n, n.input({1, 48, 7, 7}), {40, 48, 4, 4}, windows(2))));
}
void five_of_stride_two(Net& n) {
  n.result(relu(n, convolution(n, n.input({1, 40, 33, 31}), {35, 40, 5, 5}, windows(2, 2, 2))));
}

void depthwise_of_hundreds(Net& n) {
  const auto y =
      n.op("GroupConvolution-1", {n.input({2, 20, 19, 18}), n.weights({20, 1, 1, 17, 17})}, windows(2, 1, 8));
  n.result(relu(n, biased(n, y, 20)));
}

void blur(Net& n) {
  n.result(relu(n, biased(n, convolution(n, n.input({2, 1, 21, 24}), {1, 1, 17, 17}, windows(2, 1, 8)), 1)));
}
void blurs_by_channel(Net& n) {
  n.result(n.op("GroupConvolution-1", {n.input({1, 3, 19, 18}), n.weights({3, 1, 1, 17, 17})}, windows(2, 1, 8)));
}
void edges(Net& n) { n.result(relu(n, convolution(n, n.input({2, 1, 9, 20}), {7, 1, 3, 3}, windows(2, 1, 1)))); }

/// Winograd multiplies by up to 8 on the way there and back.
constexpr float kWinograd = 2e-5F;

// clang-format off
constexpr Example kExamples[] = {
    {"winograd_four_taps.convolution+bias+Relu", four, kOften, kFixed, true, kWinograd},
    {"winograd_four_taps.convolution+bias+Relu", four, kOnce, kFixed, true, kWinograd},
    {"winograd_four_taps.convolution+residual+Swish", four_of_images, kOften, kFixed, true, kWinograd},
    {"winograd_five_taps.convolution+bias+residual+Relu", five, kOften, kFixed, true, kWinograd},
    {"winograd_five_taps.convolution+bias+residual+Relu", five, kOnce, kFixed, true, kWinograd},
    {"winograd_five_taps.convolution+Relu", five_of_a_small_plane, kOften, kFixed, true, kWinograd},
    {"direct.convolution+Relu", four_of_a_small_plane},
    {"planar_depthwise.convolution+bias+Relu", blur},
    {"planar_depthwise.convolution+bias+Relu", blur, kOnce},
    {"planar_depthwise.convolution+bias+Relu", blur, kOften, kOpen},
    {"planar_depthwise.convolution", blurs_by_channel},
    {"planar_depthwise.convolution+Relu", edges},
    {"depthwise.convolution+bias+Relu", depthwise_of_hundreds},
    {"depthwise.convolution+bias+Relu", depthwise_of_hundreds, kOnce},
    {"direct.convolution+Relu", five_of_stride_two},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"blocked_convolution", kExamples};

}  // namespace ovir::testing::patterns::large_taps
