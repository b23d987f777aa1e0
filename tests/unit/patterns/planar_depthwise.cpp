#include "pattern_examples.hpp"

namespace ovir::testing::patterns::planar_depthwise {
namespace {

/// Of three channels, whose planes lie plainly.
int blurred(Net& n, int x, const Shape& kernel, const Texts& attributes) {
  Shape filters{3, 1, 1};
  filters.insert(filters.end(), kernel.begin(), kernel.end());
  return n.op("GroupConvolution-1", {x, n.weights(filters)}, attributes);
}

void plane(Net& n) {  // bands of rows, of which the last one is lower
  n.result(relu(n, biased(n, blurred(n, n.input({2, 3, 45, 131}), {5, 5}, windows(2, 1, 2)), 3)));
}
void inside(Net& n) { n.result(blurred(n, n.input({1, 3, 20, 40}), {3, 5}, windows(2))); }
void inside_a_column(Net& n) { n.result(blurred(n, n.input({1, 3, 20, 40}), {5, 1}, windows(2))); }
void strided(Net& n) {
  const auto x = n.input({1, 3, 21, 50});
  n.result(n.op("PRelu-1", {blurred(n, x, {3, 3}, windows(2, 2, 1)), n.weights({3})}));
}
void far_apart(Net& n) {  // columns that no tap reads
  n.result(blurred(n, n.input({1, 3, 20, 90}), {2, 2}, windows(2, 5, 1, 2)));
}
void dilated(Net& n) { n.result(n.op("Swish-4", {blurred(n, n.input({1, 3, 30, 33}), {3, 3}, windows(2, 1, 4, 4))})); }
void residual(Net& n) {
  const auto x = n.input({2, 3, 12, 17});
  n.result(relu(n, n.op("Add-1", {passing(n, x), blurred(n, x, {3, 3}, windows(2, 1, 1))})));
}
/// Nobody else reads the residual: the output may be placed over it.
void own_residual(Net& n) {
  const auto x = n.input({2, 3, 12, 17}), y = passing(n, n.input({2, 3, 12, 17}));
  n.result(softmax(n, n.op("Add-1", {y, blurred(n, x, {3, 3}, windows(2, 1, 1))})));
}
void two_outputs(Net& n) {
  const auto x = n.input({2, 2, 12, 18});
  n.result(biased(n, n.op("GroupConvolution-1", {x, n.weights({2, 2, 1, 3, 3})}, windows(2, 1, 1)), 4));
}
void between_blocks(Net& n) {
  const auto x = convolution(n, n.input({1, 20, 17, 18}), {3, 20, 3, 3}, windows(2, 1, 1));
  n.result(convolution(n, blurred(n, x, {3, 3}, windows(2, 1, 1)), {24, 3, 3, 3}, windows(2, 1, 1)));
}
void row(Net& n) {  // in parts
  n.result(blurred(n, n.input({1, 3, 20000}), {9}, windows(1, 1, 4)));
}
void row_strided(Net& n) { n.result(blurred(n, n.input({1, 3, 50001}), {8}, windows(1, 3, 4))); }

// clang-format off
constexpr Example kExamples[] = {
    {"planar_depthwise.convolution+bias+Relu", plane},
    {"planar_depthwise.convolution+bias+Relu", plane, kOften, kOpen},
    {"planar_depthwise.convolution+bias+Relu", plane, kOnce},
    {"planar_depthwise.convolution", inside},
    {"planar_depthwise.convolution", inside_a_column},
    {"planar_depthwise.convolution+PRelu", strided},
    {"planar_depthwise.convolution", far_apart},
    {"planar_depthwise.convolution+Swish", dilated},
    {"planar_depthwise.convolution+residual+Relu", residual},
    {"planar_depthwise.convolution+residual+Relu", residual, kOnce},
    {"planar_depthwise.convolution+residual", own_residual},
    {"planar_depthwise.convolution+residual", own_residual, kOnce},
    {"planar_depthwise.convolution+bias", two_outputs},
    {"planar_depthwise.convolution", between_blocks},
    {"planar_depthwise.convolution", row},
    {"planar_depthwise.convolution", row_strided},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"blocked_convolution", kExamples};

}  // namespace ovir::testing::patterns::planar_depthwise
