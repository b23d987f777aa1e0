#include "pattern_examples.hpp"

namespace ovir::testing::patterns::bf16_matmul {
namespace {

/// Operands are rounded to 8 bits.
constexpr float kBf16 = 1e-2F;

/// What is added is read once more behind the activation, and by nobody else.
void residual_last(Net& n) {
  const auto y = n.op("Add-1", {matmul(n, n.input({4, 9}), n.weights({9, 32})), n.weights({1, 32})});
  n.result(softmax(n, n.op("Add-1", {relu(n, y), softmax(n, n.input({4, 32}))})));
}

// clang-format off
constexpr Example kExamples[] = {
    {"bf16.matmul", product, kOften, kFixed, true, kBf16, Precision::bf16},
    {"bf16.matmul+bias+Gelu", product_gelu, kOnce, kOpen, true, kBf16, Precision::bf16},
    {"bf16.matmul+bias+Relu+residual", residual_last, kOften, kFixed, true, kBf16, Precision::bf16},
    {"bf16.matmul+bias+residual", product_residual, kOften, kFixed, true, kBf16, Precision::bf16},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"bf16_matmul", kExamples};

}  // namespace ovir::testing::patterns::bf16_matmul
