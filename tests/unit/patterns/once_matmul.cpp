#include "pattern_examples.hpp"

namespace ovir::testing::patterns::once_matmul {
namespace {

void product_of_many_columns(Net& n) {
  const auto y = testing::matmul(n, n.input({33, 70}), n.weights({530, 70}), true);
  n.result(relu(n, n.op("Add-1", {y, n.weights({530})})));
}

void product_by_bf16(Net& n) {
  n.result(matmul(n, n.input({9, 150}), narrow_weights(n, {130, 150}, ElementType::bf16), true));
}
void product_and_bias_of_f16(Net& n) {
  const auto y = testing::matmul(n, n.input({33, 70}), narrow_weights(n, {530, 70}), true);
  n.result(relu(n, n.op("Add-1", {y, narrow_weights(n, {530})})));
}
void rows_by_f16(Net& n) {  // large enough to be read in several parts
  const auto x = n.input({1, 3000});
  n.result(relu(n, matmul(n, x, narrow_weights(n, {40, 3000}), true)));
}

// clang-format off
constexpr Example kExamples[] = {
    {"once.matmul+bias+Gelu", product_gelu, kOnce},
    {"once.matmul+bias+Relu", product_of_many_columns, kOnce},
    {"once.matmul+bias+residual", product_few_residual, kOnce},
    {"once.matmul+Tanh", product_rows, kOnce, kOpen},
    {"once.matmul", product_by_bf16, kOnce, kFixed, kF32Only},
    {"once.matmul+bias+Relu", product_and_bias_of_f16, kOnce, kFixed, kF32Only},
    {"once.matmul+Relu", rows_by_f16, kOnce, kFixed, kF32Only, 2e-5F},
    {"once.matmul+Relu", rows_by_f16, kOnce, kOpen, kF32Only, 2e-5F},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"once_matmul", kExamples};

}  // namespace ovir::testing::patterns::once_matmul
