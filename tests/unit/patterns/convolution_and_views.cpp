#include "pattern_examples.hpp"

namespace ovir::testing::patterns::convolution_and_views {
namespace {

/// A row convolved as a plane, as TensorFlow does; what follows is added to rows again.
int row(Net& n) { return n.op("Convolution-1", {n.input({2, 20, 1, 50}), n.weights({33, 20, 1, 3})}, windows(2)); }
int squeezed(Net& n, int x) { return n.op("Squeeze-1", {x, n.indices({2})}); }
int reshaped(Net& n, int x, std::initializer_list<i64> shape) {
  return n.op("Reshape-1", {x, n.indices(shape)}, {{"special_zero", "false"}});
}

void bias_of_rows(Net& n) { n.result(relu(n, n.op("Add-1", {squeezed(n, row(n)), n.weights({1, 33, 1})}))); }
void residual_of_rows(Net& n) {
  const auto y = n.op("Add-1", {squeezed(n, row(n)), n.weights({1, 33, 1})});
  n.result(relu(n, n.op("Add-1", {y, n.input({2, 33, 48})})));
}
void gate_of_rows(Net& n) {
  const auto y = n.op("Add-1", {squeezed(n, row(n)), n.weights({33, 1})});
  n.result(n.op("Multiply-1", {y, n.op("Sigmoid-1", {y})}));
}
void slopes_of_rows(Net& n) { n.result(n.op("PRelu-1", {squeezed(n, row(n)), n.weights({33})})); }
void bias_before_view(Net& n) { n.result(relu(n, squeezed(n, biased(n, row(n), 33)))); }
void places_joined(Net& n) {
  const auto y = convolution(n, n.input({1, 20, 9, 7}), {33, 20, 1, 1}, windows(2));
  n.result(n.op("Swish-4", {n.op("Add-1", {reshaped(n, y, {1, 33, 63}), n.weights({1, 33, 1})})}));
}
void there_and_back(Net& n) {
  const auto y = reshaped(n, biased(n, row(n), 33), {2, 33, 6, 8});
  n.result(relu(n, reshaped(n, n.op("Add-1", {y, n.input({2, 33, 6, 8})}), {2, 33, 48})));
}
void transposed_rows(Net& n) {
  const auto y = n.op("ConvolutionBackpropData-1", {n.input({1, 20, 1, 30}), n.weights({20, 18, 1, 4})},
                      {{"strides", "1,2"}, {"dilations", "1,1"}, {"pads_begin", "0,1"}, {"pads_end", "0,1"}});
  n.result(relu(n, n.op("Add-1", {squeezed(n, y), n.weights({1, 18, 1})})));
}
/// Views that move channels, that others read, and behind which nothing can be computed.
void views_alone(Net& n) {
  n.result(relu(n, reshaped(n, row(n), {2, 33 * 48})));
  n.result(relu(n, reshaped(n, row(n), {2, 3, 11, 48})));
  const auto read = squeezed(n, row(n));
  n.result(relu(n, read));
  n.result(read);
  n.result(n.op("Multiply-1", {squeezed(n, row(n)), n.input({2, 33, 48})}));
}

// clang-format off
constexpr Example kExamples[] = {
    {"direct.convolution+bias+Relu", bias_of_rows},
    {"direct.convolution+bias+Relu", bias_of_rows, kOnce},
    {"direct.convolution+bias+residual+Relu", residual_of_rows},
    {"direct.convolution+bias+residual+Relu", residual_of_rows, kOnce},
    {"direct.convolution+bias+Sigmoid+Multiply", gate_of_rows},
    {"direct.convolution+PRelu", slopes_of_rows},
    {"direct.convolution+bias+Relu", bias_before_view},
    {"pointwise.convolution+bias+Swish", places_joined},
    {"direct.convolution+bias+residual+Relu", there_and_back},
    {"transposed.convolution+bias+Relu", transposed_rows},
    {"direct.convolution", views_alone},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"blocked_convolution", kExamples};

}  // namespace ovir::testing::patterns::convolution_and_views
