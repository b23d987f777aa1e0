#include "pattern_examples.hpp"

namespace ovir::testing::patterns::once_matmul {
namespace {

void product_of_many_columns(Net& n) {
  const auto y = testing::matmul(n, n.input({33, 70}), n.weights({530, 70}), true);
  n.result(relu(n, n.op("Add-1", {y, n.weights({530})})));
}

// clang-format off
constexpr Example kExamples[] = {
    {"once.matmul+bias+Gelu", product_gelu, kOnce},
    {"once.matmul+bias+Relu", product_of_many_columns, kOnce},
    {"once.matmul+bias+residual", product_few_residual, kOnce},
    {"once.matmul+Tanh", product_rows, kOnce, kOpen},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"once_matmul", kExamples};

}  // namespace ovir::testing::patterns::once_matmul
