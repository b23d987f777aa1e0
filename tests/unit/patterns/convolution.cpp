#include "pattern_examples.hpp"

namespace ovir::testing::patterns::convolution {
namespace {

void small_depthwise(Net& n) {
  const auto x = n.input({2, 6, 9, 11});
  n.result(relu(n, n.op("GroupConvolution-1", {x, n.weights({6, 1, 1, 3, 3})}, windows(2, 1, 1))));
}
void few_channels(Net& n) {
  const auto x = n.input({1, 7, 5, 5});
  const auto y = biased(n, n.op("Convolution-1", {x, n.weights({7, 7, 3, 3})}, windows(2, 1, 1)), 7);
  n.result(softmax(n, relu(n, n.op("Add-1", {passing(n, x), y}))));
}
void few_channels_row(Net& n) {
  const auto y = n.op("Convolution-1", {n.input({2, 7, 15}), n.weights({19, 7, 5})}, windows(1, 1, 2));
  n.result(n.op("PRelu-1", {n.op("Add-1", {y, n.weights({1, 19, 1})}), n.weights({19})}));
}

// clang-format off
constexpr Example kExamples[] = {
    {"convolution+bias", few_channels, kOnce, kOpen},
    {"convolution+bias+Elu", small_plane, kOnce, kOpen},
    {"convolution+Relu", small_depthwise, kOnce, kOpen},
    {"convolution+bias+PRelu", few_channels_row, kOnce, kOpen},
    {"convolution", computed_filters, kOnce, kOpen},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"convolution", kExamples};

}  // namespace ovir::testing::patterns::convolution
