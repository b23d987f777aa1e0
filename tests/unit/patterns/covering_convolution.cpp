#include "pattern_examples.hpp"

namespace ovir::testing::patterns::covering_convolution {
namespace {

int patches(Net& n, int x) { return convolution(n, x, {37, 3, 6, 5}, windows(2, 3)); }
void of_images(Net& n) {
  const auto y = n.op("Add-1", {patches(n, n.input({19, 3, 6, 5})), n.weights({1, 37, 1, 1})});
  n.result(n.op("Add-1", {n.op("Swish-4", {y}), n.input({19, 37, 1, 1})}));
}
void of_volumes(Net& n) {
  n.result(relu(n, convolution(n, n.input({21, 3, 2, 7, 7}), {33, 3, 2, 7, 7}, windows(3, 7))));
}
/// As many as the run brings.
void of_reshaped(Net& n) {
  const auto x = n.op("Reshape-1", {n.input({23, 90}), n.indices({-1, 3, 6, 5})}, {{"special_zero", "false"}});
  n.result(n.op("Reshape-1", {patches(n, x), n.indices({-1, 37})}, {{"special_zero", "false"}}));
}

// clang-format off
constexpr Example kExamples[] = {
    {"covering.convolution+bias+Swish+residual", of_images},
    {"covering.convolution+bias+Swish+residual", of_images, kOnce},
    {"covering.convolution+Relu", of_volumes},
    {"covering.convolution+Relu", of_volumes, kOnce},
    {"covering.convolution", of_reshaped, kOften, kOpen},
    {"covering.convolution", of_reshaped, kOnce, kOpen},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"covering_convolution", kExamples};

}  // namespace ovir::testing::patterns::covering_convolution
