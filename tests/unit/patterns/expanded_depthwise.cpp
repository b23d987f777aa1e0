#include "pattern_examples.hpp"

namespace ovir::testing::patterns::expanded_depthwise {
namespace {

int clamp(Net& n, int x) { return n.op("Clamp-1", {x}, {{"min", "0"}, {"max", "1.5"}}); }

void stride_1(Net& n) {  // blocks that are not whole
  const auto x = clamp(n, biased(n, convolution(n, n.input({2, 40, 23, 25}), {70, 40, 1, 1}, windows(2)), 70));
  n.result(clamp(n, biased(n, n.op("GroupConvolution-1", {x, n.weights({70, 1, 1, 3, 3})}, windows(2, 1, 1)), 70)));
}
void stride_2(Net& n) {  // activations that are computed aside; between other convolutions
  const auto x = n.op("Swish-4", {convolution(n, n.input({1, 16, 50, 55}), {33, 16, 1, 1}, windows(2))});
  const auto y = n.op("HSwish-4", {n.op("GroupConvolution-1", {x, n.weights({33, 1, 1, 5, 5})}, windows(2, 2, 2))});
  n.result(convolution(n, y, {18, 33, 1, 1}, windows(2)));
}

// clang-format off
constexpr Example kExamples[] = {
    {"expanded_depthwise.convolution+bias+Clamp", stride_1},
    {"expanded_depthwise.convolution+HSwish", stride_2},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"expanded_depthwise", kExamples};

}  // namespace ovir::testing::patterns::expanded_depthwise
