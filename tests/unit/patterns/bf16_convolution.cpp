#include "pattern_examples.hpp"

namespace ovir::testing::patterns::bf16_convolution {
namespace {

/// Operands are rounded to 8 bits.
constexpr float kBf16 = 1e-2F;

void winograd(Net& n) {
  const auto x = n.input({2, 33, 9, 8});
  const auto y = biased(n, convolution(n, x, {33, 33, 3, 3}, windows(2, 1, 1)), 33);
  n.result(relu(n, n.op("Add-1", {x, y})));
}

// clang-format off
constexpr Example kExamples[] = {
    {"bf16.convolution+bias+HSwish", pointwise, kOften, kFixed, true, kBf16, Precision::bf16},
    {"bf16.convolution+bias+residual+Relu", direct_residual, kOnce, kFixed, true, kBf16, Precision::bf16},
    {"bf16_winograd2.convolution+bias+residual+Relu", winograd, kOften, kFixed, true, kBf16, Precision::bf16},
    {"bf16_depthwise.convolution+bias+Clamp", depthwise, kOften, kFixed, true, kBf16, Precision::bf16},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"bf16_convolution", kExamples};

}  // namespace ovir::testing::patterns::bf16_convolution
