#include "pattern_examples.hpp"

namespace ovir::testing::patterns::bf16_convolution {
namespace {

/// Operands are rounded to 8 bits.
constexpr float kBf16 = 1e-2F;

// clang-format off
constexpr Example kExamples[] = {
    {"bf16.convolution+bias+HSwish", pointwise, kOften, kFixed, true, kBf16, Precision::bf16},
    {"bf16.convolution+bias+residual+Relu", direct_residual, kOnce, kFixed, true, kBf16, Precision::bf16},
    {"bf16_depthwise.convolution+bias+Clamp", depthwise, kOften, kFixed, true, kBf16, Precision::bf16},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"bf16_convolution", kExamples};

}  // namespace ovir::testing::patterns::bf16_convolution
