#include "pattern_examples.hpp"

namespace ovir::testing::patterns::packed_matmul {
namespace {

/// What repeats the product is no residual.
void product_of_one_row(Net& n) {
  n.result(n.op("Add-1", {testing::matmul(n, n.input({1, 20}), n.weights({20, 33})), n.input({9, 33})}));
}

void product_of_its_residual(Net& n) {  // x · W + x: the sum may not be written over x
  const auto x = passing(n, n.input({5, 35}));
  n.result(softmax(n, n.op("Add-1", {x, matmul(n, x, n.weights({35, 35}))})));
}

// clang-format off
constexpr Example kExamples[] = {
    {"packed.matmul", product},
    {"packed.matmul", product, kOften, kOpen},
    {"packed.matmul+bias+Gelu", product_gelu},
    {"packed.matmul+bias+Gelu", product_gelu, kOften, kOpen},
    {"packed.matmul+bias+residual", product_residual},
    {"packed.matmul+bias+residual", product_few_residual},
    {"packed.matmul+Tanh", product_rows, kOften, kOpen},
    {"packed.matmul", product_of_one_row},
    {"packed.matmul+residual", product_of_its_residual},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"packed_matmul", kExamples};

}  // namespace ovir::testing::patterns::packed_matmul
