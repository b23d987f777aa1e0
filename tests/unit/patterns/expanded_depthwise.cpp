#include "pattern_examples.hpp"

namespace ovir::testing::patterns::expanded_depthwise {
namespace {

int clamp(Net& n, int x) { return n.op("Clamp-1", {x}, {{"min", "0"}, {"max", "1.5"}}); }
int depthwise(Net& n, int x, i64 channels, i64 kernel, int stride, int pad) {
  return n.op("GroupConvolution-1", {x, n.weights({channels, 1, 1, kernel, kernel})}, windows(2, stride, pad));
}

void residual(Net& n) {  // blocks that are not whole; what is added is what is expanded
  const auto x = n.input({2, 40, 43, 45});
  const auto y = clamp(n, biased(n, convolution(n, x, {170, 40, 1, 1}, windows(2)), 170));
  const auto z = clamp(n, biased(n, depthwise(n, y, 170, 3, 1, 1), 170));
  n.result(n.op("Add-1", {x, biased(n, convolution(n, z, {40, 170, 1, 1}, windows(2)), 40)}));
}
void image(Net& n) {  // activations that are computed aside
  const auto x = n.op("Swish-4", {convolution(n, n.input({1, 3, 50, 55}), {33, 3, 3, 3}, windows(2, 1, 1))});
  const auto y = n.op("HSwish-4", {depthwise(n, x, 33, 5, 2, 2)});
  n.result(convolution(n, y, {18, 33, 1, 1}, windows(2)));
}
void viewed(Net& n) {  // the last activation is that of another shape
  const auto x = relu(n, convolution(n, n.input({2, 40, 43, 45}), {170, 40, 1, 1}, windows(2)));
  const auto y = n.op("Reshape-1", {depthwise(n, x, 170, 3, 1, 1), n.indices({0, 0, -1})}, {{"special_zero", "true"}});
  n.result(relu(n, n.op("Add-1", {y, n.weights({170, 1})})));
}
/// HSwish as exporters to ONNX spell it out.
int gated(Net& n, int x) {
  return n.op("Multiply-1", {x, n.op("HardSigmoid-1", {x, n.numbers({1.0F / 6}, {}), n.numbers({0.5F}, {})})});
}
void gated_image(Net& n) {
  const auto x = gated(n, convolution(n, n.input({1, 3, 50, 55}), {33, 3, 3, 3}, windows(2, 1, 1)));
  const auto y = gated(n, depthwise(n, x, 33, 5, 2, 2));
  n.result(convolution(n, y, {18, 33, 1, 1}, windows(2)));
}
void small_planes(Net& n) {  // each thread has channels of its own
  const auto x = n.op("Relu-1", {convolution(n, n.input({2, 24, 9, 7}), {40, 24, 1, 1}, windows(2))});
  const auto y = clamp(n, biased(n, convolution(n, x, {70, 40, 1, 1}, windows(2)), 70));
  const auto z = clamp(n, depthwise(n, y, 70, 3, 1, 1));
  n.result(n.op("Add-1", {convolution(n, z, {40, 70, 1, 1}, windows(2)), x}));
}
void without_projection(Net& n) {  // the last rows and columns are read by no output
  const auto x = n.op("Sigmoid-1", {convolution(n, n.input({2, 16, 38, 42}), {35, 16, 1, 1}, windows(2))});
  n.result(n.op("Sigmoid-1", {biased(n, depthwise(n, x, 35, 3, 2, 0), 35)}));
}
void small_planes_without_projection(Net& n) {
  const auto x = n.op("Sigmoid-1", {convolution(n, n.input({1, 16, 14, 13}), {80, 16, 1, 1}, windows(2))});
  const auto y = n.op("Swish-4", {depthwise(n, x, 80, 7, 1, 3)});
  n.result(n.op("ReduceMean-1", {y, n.indices({2, 3})}, {{"keep_dims", "true"}}));
}
void normalizations(Net& n) {
  const auto x = n.input({1, 24, 19, 22});
  const auto y = relu(n, normalized(n, convolution(n, x, {70, 24, 1, 1}, windows(2)), 70));
  const auto z = relu(n, normalized(n, depthwise(n, y, 70, 3, 1, 1), 70));
  n.result(normalized(n, convolution(n, z, {20, 70, 1, 1}, windows(2)), 20));
}

/// As TensorFlow pads where there is a stride: behind only.
int padded(Net& n, int x) {
  return n.op("Pad-1", {x, n.indices({0, 0, 0, 0}), n.indices({0, 0, 1, 1}), n.numbers({0}, {})},
              {{"pad_mode", "constant"}});
}
void padded_behind(Net& n) {
  const auto x = clamp(n, biased(n, convolution(n, n.input({2, 24, 24, 28}), {40, 24, 1, 1}, windows(2)), 40));
  const auto y = clamp(n, depthwise(n, padded(n, x), 40, 3, 2, 0));
  n.result(convolution(n, y, {16, 40, 1, 1}, windows(2)));
}
void image_padded_behind(Net& n) {
  const auto x = clamp(n, convolution(n, padded(n, n.input({1, 3, 32, 36})), {24, 3, 3, 3}, windows(2, 2)));
  const auto y = clamp(n, depthwise(n, padded(n, x), 24, 3, 2, 0));
  n.result(convolution(n, y, {16, 24, 1, 1}, windows(2)));
}

int scaled(Net& n, int x, i64 channels) {
  return biased(n, n.op("Multiply-1", {x, n.weights({1, channels, 1, 1})}), channels);
}
/// Branches beside each of the three; the first that reads what is expanded is no convolution.
void branches_of(Net& n, const Shape& data) {
  const auto x = n.input(data);
  const auto both = [&](int from, i64 outputs, i64 channels) {
    const auto one = convolution(n, from, {outputs, channels, 1, 1}, windows(2));
    return n.op("Add-1", {one, biased(n, convolution(n, from, {outputs, channels, 1, 1}, windows(2)), outputs)});
  };
  const auto y = relu(n, both(x, 38, 24)), scale = scaled(n, y, 38);
  const auto narrow = depthwise(n, y, 38, 1, 1, 0), wide = biased(n, depthwise(n, y, 38, 3, 1, 1), 38);
  const auto z = relu(n, n.op("Add-1", {n.op("Add-1", {scale, narrow}), wide}));
  n.result(n.op("Add-1", {x, both(z, 24, 38)}));
}
void branches(Net& n) { branches_of(n, {2, 24, 9, 7}); }
void branches_of_large_planes(Net& n) { branches_of(n, {1, 24, 23, 25}); }
/// What is expanded first is read by others, too.
void read_by_others(Net& n) {
  const auto x = n.input({1, 24, 9, 7});
  const auto y = clamp(n, convolution(n, x, {40, 24, 1, 1}, windows(2)));
  const auto z = relu(n, n.op("Add-1", {depthwise(n, y, 40, 3, 1, 1), y}));
  n.result(n.op("Sigmoid-1", {y}));
  n.result(clamp(n, depthwise(n, clamp(n, convolution(n, z, {40, 40, 1, 1}, windows(2))), 40, 3, 1, 1)));
}

// clang-format off
constexpr Example kExamples[] = {
    {"expanded_depthwise+bias+Relu", viewed},
    {"inverted_residual+bias+residual", residual},
    {"inverted_residual", image},
    {"inverted_residual", gated_image, kOften, kFixed, kF32Only},  // 1/6 is another number in f16
    {"inverted_residual", padded_behind},
    {"inverted_residual", image_padded_behind},
    {"inverted_residual+scale+bias", normalizations},
    {"inverted_residual+residual", small_planes},
    {"inverted_residual+sum+bias+residual", branches},
    {"inverted_residual+sum+bias+residual", branches_of_large_planes},
    {"expanded_depthwise+Clamp", read_by_others},
    {"expanded_depthwise+bias+Sigmoid", without_projection},
    {"expanded_depthwise+Swish", small_planes_without_projection},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"expanded_depthwise", kExamples};

}  // namespace ovir::testing::patterns::expanded_depthwise
