#include "pattern_examples.hpp"

namespace ovir::testing::patterns::deformable_convolution {
namespace {

/// Offsets of so many pixels on average.
int moved(Net& n, const PartialShape& shape, float pixels) {
  return n.op("Multiply-1", {n.input(shape), n.numbers({pixels}, {1})});
}

Texts more(Texts attributes, const Texts& others) {
  attributes.insert(attributes.end(), others.begin(), others.end());
  return attributes;
}

void plain(Net& n) {
  n.result(n.op("DeformableConvolution-1", {n.input({2, 6, 9, 8}), moved(n, {2, 18, 9, 8}, 3), n.weights({5, 6, 3, 3})},
                windows(2, 1, 1)));
}
/// A mask, groups of both kinds that do not fall together, and zeros around the plane.
void masked(Net& n) {
  n.result(n.op(
      "DeformableConvolution-8",
      {n.input({2, 12, 9, 8}), moved(n, {2, 54, 5, 4}, 3), n.weights({6, 6, 3, 3}), n.input({2, 27, 5, 4})},
      more(windows(2, 2, 1), {{"group", "2"}, {"deformable_group", "3"}, {"bilinear_interpolation_pad", "true"}})));
}
void residual(Net& n) {
  const auto y =
      n.op("DeformableConvolution-8", {n.input({2, 16, 9, 8}), moved(n, {2, 18, 9, 8}, 3), n.weights({16, 16, 3, 3})},
           windows(2, 1, 2, 2));
  n.result(relu(n, n.op("Add-1", {biased(n, y, 16), n.input({2, 16, 9, 8})})));
}
/// Between convolutions, whose values are blocked.
void between(Net& n) {
  const auto x = convolution(n, n.input({1, 3, 9, 8}), {16, 3, 3, 3}, windows(2, 1, 1));
  const auto y =
      n.op("DeformableConvolution-8", {x, moved(n, {1, 18, 9, 8}, 3), n.weights({20, 16, 3, 3})}, windows(2, 1, 1));
  n.result(convolution(n, relu(n, biased(n, y, 20)), {8, 20, 3, 3}, windows(2, 1, 1)));
}

// clang-format off
constexpr Example kExamples[] = {
    {"deformable.convolution", plain},
    {"deformable.convolution", plain, kOnce, kOpen},
    {"deformable.convolution", masked},
    {"deformable.convolution", masked, kOnce, kOpen},
    {"deformable.convolution+bias+residual+Relu", residual},
    {"deformable.convolution+bias+Relu", between},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"deformable_convolution", kExamples};

}  // namespace ovir::testing::patterns::deformable_convolution
