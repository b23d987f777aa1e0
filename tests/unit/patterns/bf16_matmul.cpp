#include "pattern_examples.hpp"

namespace ovir::testing::patterns::bf16_matmul {
namespace {

/// Operands are rounded to 8 bits.
constexpr float kBf16 = 1e-2F;

// clang-format off
constexpr Example kExamples[] = {
    {"bf16.matmul", product, kOften, kFixed, true, kBf16, Precision::bf16},
    {"bf16.matmul+bias+Gelu", product_gelu, kOnce, kOpen, true, kBf16, Precision::bf16},
    {"bf16.matmul+bias+residual", product_residual, kOften, kFixed, true, kBf16, Precision::bf16},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"bf16_matmul", kExamples};

}  // namespace ovir::testing::patterns::bf16_matmul
