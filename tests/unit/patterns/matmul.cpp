#include "pattern_examples.hpp"

namespace ovir::testing::patterns::matmul {
namespace {

void product_large(Net& n) {  // in an f16 model the weights are widened as a step of their own
  n.result(relu(n, testing::matmul(n, n.input({3, 129}), n.weights({129, 130}))));
}
void product_batches(Net& n) { n.result(testing::matmul(n, n.input({2, 3, 4, 9}), n.input({2, 3, 9, 5}))); }
void product_left(Net& n) {
  n.result(n.op("MatMul-1", {n.input({2, 3, 24, 8}), n.input({2, 3, 24, 16})},
                {{"transpose_a", "true"}, {"transpose_b", "false"}}));
}
void product_wide(Net& n) { n.result(testing::matmul(n, n.input({2, 5, 20, 33}), n.input({2, 5, 33, 70}))); }
void product_few_rows(Net& n) { n.result(testing::matmul(n, n.input({6, 3, 40}), n.input({6, 70, 40}), true)); }
/// Matrices that an f16 model has as constants, by few rows and by many.
void product_experts(Net& n) {
  n.result(n.op("Relu-1", {testing::matmul(n, n.input({3, 2, 300}), n.weights({3, 300, 300}), true)}));
}
void product_experts_of_many(Net& n) {
  n.result(testing::matmul(n, n.input({3, 9, 300}), n.weights({3, 300, 300}), true));
}
void product_constants(Net& n) { n.result(testing::matmul(n, n.input({2, 3, 9, 40}), n.weights({3, 40, 70}))); }
void product_constants_turned(Net& n) {
  n.result(relu(n, testing::matmul(n, n.input({3, 19, 40}), n.weights({3, 70, 40}), true)));
}
void product_constants_left(Net& n) {
  n.result(n.op("MatMul-1", {n.input({3, 40, 9}), n.weights({3, 40, 70})},
                {{"transpose_a", "true"}, {"transpose_b", "false"}}));
}
void product_one_row(Net& n) { n.result(testing::matmul(n, n.input({6, 1, 40}), n.input({6, 40, 600}))); }
void product_few_columns(Net& n) { n.result(testing::matmul(n, n.input({6, 21, 40}), n.input({6, 3, 40}), true)); }
/// Matrices that several products share, on either side.
void product_repeated(Net& n) {
  n.result(testing::matmul(n, n.input({3, 2, 4, 17, 12}), n.input({3, 2, 1, 12, 40})));
  n.result(testing::matmul(n, n.input({1, 9, 12}), n.input({4, 12, 35})));
}
void product_vectors(Net& n) {
  n.result(testing::matmul(n, n.input({4, 11, 12}), n.input({12})));
  n.result(testing::matmul(n, n.input({12}), n.input({4, 12, 11})));
}
void product_sum(Net& n) {
  const auto x = n.input({4, 9, 33});
  const auto y = testing::matmul(n, n.input({4, 9, 20}), n.input({4, 20, 33}));
  n.result(softmax(n, relu(n, n.op("Add-1", {n.op("Add-1", {y, n.weights({33})}), passing(n, x)}))));
}
/// The sum may lie where the residual does.
void product_sum_of_few_rows(Net& n) {
  const auto y = testing::matmul(n, n.input({5, 20}), n.weights({20, 33}));
  n.result(softmax(n, n.op("Add-1", {n.op("Add-1", {y, n.weights({33})}), passing(n, n.input({5, 33}))})));
}
void product_sum_of_few_computed(Net& n) {
  const auto y = testing::matmul(n, n.input({4, 3, 20}), n.input({4, 20, 33}));
  n.result(softmax(n, relu(n, n.op("Add-1", {n.op("Add-1", {y, n.weights({33})}), passing(n, n.input({4, 3, 33}))}))));
}
/// What repeats the product is no residual.
void product_of_one_row(Net& n) {
  n.result(n.op("Add-1", {testing::matmul(n, n.input({1, 20}), n.input({20, 33})), n.input({9, 33})}));
}

// clang-format off
constexpr Example kExamples[] = {
    {"matmul", product, kOnce, kOpen},
    {"matmul+bias+residual", product_residual, kOnce},
    {"matmul+bias+residual", product_sum_of_few_rows, kOnce},
    {"matmul+bias+residual+Relu", product_sum_of_few_computed},
    {"matmul+Relu", product_large, kOnce},
    {"matmul", product_batches, kOnce},
    {"matmul", product_batches, kOften, kOpen},
    {"matmul", product_left},
    {"matmul", product_wide},
    {"matmul", product_wide, kOften, kOpen},
    {"matmul", product_few_rows},
    {"matmul+Relu", product_experts},
    {"matmul", product_experts_of_many},
    {"matmul", product_constants},
    {"matmul", product_constants, kOften, kOpen},
    {"matmul+Relu", product_constants_turned},
    {"matmul", product_constants_left},
    {"matmul", product_one_row},
    {"matmul", product_few_columns},
    {"matmul", product_repeated},
    {"matmul", product_vectors},
    {"matmul+bias+residual+Relu", product_sum},
    {"matmul", product_of_one_row},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"matmul", kExamples};

}  // namespace ovir::testing::patterns::matmul
