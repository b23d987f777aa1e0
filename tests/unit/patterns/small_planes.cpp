// Convolutions of small planes: images of a batch together, and kernels of which most taps are in the padding.
#include "pattern_examples.hpp"

namespace ovir::testing::patterns::small_planes {
namespace {

void plane_of_eight(Net& n) {
  n.result(relu(n, biased(n, convolution(n, n.input({8, 40, 8, 7}), {35, 40, 3, 3}, windows(2, 1, 1)), 35)));
}
void plane_of_sixteen(Net& n) {
  const auto y = convolution(n, n.input({2, 40, 16, 15}), {72, 40, 3, 3}, windows(2, 1, 1));
  n.result(relu(n, n.op("Add-1", {y, n.input({2, 72, 16, 15})})));
}
void plane_of_four(Net& n) {
  const auto y = convolution(n, n.input({3, 40, 4, 4}), {35, 40, 3, 3}, windows(2, 1, 1));
  n.result(n.op("Add-1", {n.op("Swish-4", {biased(n, y, 35)}), n.input({3, 35, 4, 4})}));
}
void halved(Net& n) { n.result(convolution(n, n.input({6, 40, 15, 16}), {70, 40, 3, 3}, windows(2, 2, 1))); }
/// Nine taps, of which one reads data.
void pixels(Net& n) {
  const auto y = convolution(n, n.input({9, 40, 1, 1}), {35, 40, 3, 3}, windows(2, 1, 1));
  n.result(n.op("Swish-4", {n.op("Add-1", {biased(n, y, 35), n.input({9, 35, 1, 1})})}));
}
void pixels_of_many_outputs(Net& n) {
  n.result(n.op("Elu-1", {biased(n, convolution(n, n.input({7, 40, 1, 1}), {200, 40, 1, 1}, windows(2)), 200)},
                {{"alpha", "0.5"}}));
}
void pixels_grouped(Net& n) {
  const auto y = n.op("GroupConvolution-1", {n.input({5, 96, 1, 1}), n.weights({3, 16, 32, 3, 3})}, windows(2, 1, 1));
  n.result(relu(n, biased(n, y, 48)));
}
/// As at the bottom of nets that draw images: 4 × 4 taps, of which 2 × 2 read data.
void bottom(Net& n) {
  n.result(relu(n, biased(n, convolution(n, n.input({2, 40, 2, 2}), {35, 40, 4, 4}, windows(2, 2, 1)), 35)));
}
/// Rows of taps that read data only above, columns only on the left.
void corner(Net& n) {
  const Texts far{{"strides", "1,1"}, {"dilations", "2,3"}, {"pads_begin", "4,6"}, {"pads_end", "0,0"}};
  n.result(convolution(n, n.input({1, 20, 3, 4}), {18, 20, 3, 3}, far));
}
void padded_same(Net& n) {
  n.result(convolution(n, n.input({2, 20, 1, 7}), {18, 20, 3, 3},
                       {{"strides", "1,1"},
                        {"dilations", "1,1"},
                        {"pads_begin", "0,0"},
                        {"pads_end", "0,0"},
                        {"auto_pad", "same_upper"}}));
}
/// None of whose taps reads data.
void nothing(Net& n) {
  const Texts apart{{"strides", "1,1"}, {"dilations", "2,2"}, {"pads_begin", "1,1"}, {"pads_end", "2,2"}};
  n.result(biased(n, convolution(n, n.input({1, 20, 1, 1}), {18, 20, 2, 2}, apart), 18));
}
/// A single number, as of nets that judge.
void judgment(Net& n) { n.result(biased(n, convolution(n, n.input({3, 20, 4, 4}), {1, 20, 4, 4}, windows(2)), 1)); }
void row(Net& n) { n.result(relu(n, convolution(n, n.input({2, 20, 2}), {18, 20, 7}, windows(1, 1, 3)))); }

/// Winograd multiplies by up to 8 on the way there and back.
constexpr float kWinograd = 2e-5F;

// clang-format off
constexpr Example kExamples[] = {
    {"winograd4.convolution+bias+Relu", plane_of_eight, kOften, kFixed, true, kWinograd},
    {"winograd2.convolution+bias+Relu", plane_of_eight, kOnce, kFixed, true, kWinograd},
    {"winograd4.convolution+residual+Relu", plane_of_sixteen, kOften, kFixed, true, kWinograd},
    {"winograd2.convolution+bias+Swish+residual", plane_of_four, kOften, kFixed, true, kWinograd},
    {"winograd_strided.convolution", halved, kOften, kFixed, true, kWinograd},
    {"pointwise.convolution+bias+residual+Swish", pixels},
    {"direct.convolution+bias+residual+Swish", pixels, kOnce},
    {"pointwise.convolution+bias+Elu", pixels_of_many_outputs},
    {"pointwise.convolution+bias+Elu", pixels_of_many_outputs, kOnce},
    {"pointwise.convolution+bias+Elu", pixels_of_many_outputs, kOften, kOpen},
    {"pointwise.convolution+bias+Relu", pixels_grouped},
    {"direct.convolution+bias+Relu", bottom},
    {"direct.convolution+bias+Relu", bottom, kOften, kOpen},
    {"direct.convolution", corner},
    {"direct.convolution", padded_same},
    {"direct.convolution+bias", nothing},
    {"direct.convolution+Relu", row},
    {"direct.convolution+bias", judgment},
    {"direct.convolution+bias", judgment, kOften, kOpen},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"blocked_convolution", kExamples};

}  // namespace ovir::testing::patterns::small_planes
