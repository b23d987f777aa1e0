#include "pattern_examples.hpp"

namespace ovir::testing::patterns::matmul {
namespace {

void product_large(Net& n) {  // in an f16 model the weights are widened as a step of their own
  n.result(relu(n, testing::matmul(n, n.input({3, 129}), n.weights({129, 130}))));
}
void product_batches(Net& n) { n.result(testing::matmul(n, n.input({2, 3, 4, 9}), n.input({2, 3, 9, 5}))); }

// clang-format off
constexpr Example kExamples[] = {
    {"matmul", product, kOnce, kOpen},
    {"matmul+bias+residual", product_residual, kOnce},
    {"matmul+Relu", product_large, kOnce},
    {"matmul", product_batches, kOnce},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"matmul", kExamples};

}  // namespace ovir::testing::patterns::matmul
