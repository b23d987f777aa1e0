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

/// As TensorFlow spells it out.
int gelu(Net& n, int x) {
  const auto half = n.op("Multiply-1", {n.numbers({0.5F}, {1}), x});
  const auto erf = n.op("Erf-1", {n.op("Multiply-1", {n.numbers({-0.70710678F}, {1}), x})});
  return n.op("Multiply-1", {half, n.op("Subtract-1", {n.numbers({1}, {1}), erf})});
}
void product_complement(Net& n) {
  n.result(gelu(n, n.op("Add-1", {matmul(n, n.input({5, 37}), n.weights({37, 70})), n.weights({70})})));
}
/// What exporters spell out. Where others read the sum as well it is no activation.
int swish(Net& n, int x) { return n.op("Multiply-1", {x, n.op("Sigmoid-1", {x})}); }
void product_gated(Net& n) {
  n.result(swish(n, n.op("Add-1", {matmul(n, n.input({5, 37}), n.weights({37, 70})), n.weights({70})})));
}
void product_sloped(Net& n) {
  n.result(sloped(n, matmul(n, n.input({5, 37}), n.weights({37, 70})), n.numbers({0.25F}, {})));
}
void product_sloped_by_column(Net& n) {
  n.result(sloped(n, matmul(n, n.input({2, 5, 37}), n.weights({37, 70})), n.weights({70})));
}
/// By row, which no ending has. No sum of these numbers is so near 0 that rounding decides on which side it is.
void product_sloped_by_row(Net& n) {
  n.result(sloped(n, matmul(n, n.input({2, 68, 35}), n.weights({35, 70})), n.weights({68, 1})));
}
/// The other way round, which is no PRelu.
void product_sloped_above(Net& n) {
  const auto x = matmul(n, n.input({5, 37}), n.weights({37, 70}));
  const auto test = n.op("Greater-1", {x, n.numbers({0}, {})}),
             product = n.op("Multiply-1", {x, n.numbers({0.25F}, {})});
  n.result(n.op("Select-1", {test, product, x}));
}
void product_gated_and_read(Net& n) {
  const auto x = matmul(n, n.input({5, 37}), n.weights({37, 70}));
  n.result(n.op("Add-1", {swish(n, x), n.op("Abs-1", {x})}));
}

// So many rows are multiplied as three bf16 where the machine has tiles.
int many_rows(Net& n) { return matmul(n, n.input({3, 50, 72}), n.weights({72, 40})); }
void product_of_many_rows(Net& n) { n.result(many_rows(n)); }
void many_rows_gelu(Net& n) { n.result(n.op("Gelu-7", {n.op("Add-1", {many_rows(n), n.weights({40})})})); }
void many_rows_residual(Net& n) { n.result(n.op("Relu-1", {n.op("Add-1", {many_rows(n), n.input({3, 50, 40})})})); }
void many_rows_long(Net& n) { n.result(n.op("Tanh-1", {matmul(n, n.input({96, 1700}), n.weights({1700, 200}))})); }

// Rows of f16 and bf16 are multiplied as they are; the first product copies a large matrix.
void rows_by_f16(Net& n) { n.result(relu(n, matmul(n, n.input({1, 150}), narrow_weights(n, {130, 150}), true))); }
void row_by_large_f16(Net& n) { n.result(matmul(n, n.input({1, 1030}), narrow_weights(n, {1030, 1030}), true)); }
void row_by_large_turned(Net& n) { n.result(relu(n, matmul(n, n.input({1, 1030}), n.weights({1030, 1021})))); }
void row_by_large_turned_f16(Net& n) { n.result(matmul(n, n.input({1, 1030}), narrow_weights(n, {1030, 1021}))); }
void row_by_column(Net& n) { n.result(relu(n, matmul(n, n.input({1, 18}), n.weights({18, 1})))); }
/// Layers that share weights share what is packed, of which rows of other numbers want another form.
void rows_by_shared(Net& n) {
  const auto w = n.weights({72, 40}), x = relu(n, matmul(n, n.input({3, 50, 72}), w));
  n.result(x);
  n.result(matmul(n, n.op("Sigmoid-1", {n.input({2, 72})}), w));
  n.result(matmul(n, n.op("Sigmoid-1", {n.input({2, 40})}), w, true));
}
void rows_by_shared_f16(Net& n) {
  const auto w = narrow_weights(n, {1030, 1021});
  n.result(relu(n, matmul(n, n.input({1, 1030}), w)));
  n.result(relu(n, matmul(n, n.input({9, 1030}), w)));
}
void many_rows_by_bf16(Net& n) {
  n.result(matmul(n, n.input({1, 6, 150}), narrow_weights(n, {130, 150}, ElementType::bf16), true));
}

// Heads: one number a column all the same.
int heads(Net& n, std::initializer_list<i64> shape = {2, 5, 4, 6}) {
  const auto x = matmul(n, n.input({2, 5, 36}), n.weights({36, 24}));
  return n.op("Reshape-1", {x, n.indices(shape)}, {{"special_zero", "false"}});
}
void heads_biased(Net& n) { n.result(relu(n, n.op("Add-1", {heads(n), n.weights({4, 6})}))); }
void heads_added(Net& n) {
  n.result(n.op("Add-1", {n.op("Add-1", {heads(n), n.weights({1, 1, 4, 6})}), n.input({2, 5, 4, 6})}));
}
void heads_sloped(Net& n) { n.result(sloped(n, heads(n), n.weights({4, 6}))); }
void rows_joined(Net& n) { n.result(n.op("Gelu-7", {n.op("Add-1", {heads(n, {10, 24}), n.weights({24})})})); }
/// Numbers by head and by place, and what repeats one axis along another.
void heads_apart(Net& n) {
  n.result(n.op("Add-1", {heads(n), n.weights({6})}));
  n.result(n.op("Add-1", {heads(n), n.weights({4, 1})}));
  n.result(n.op("Add-1", {heads(n, {2, 5, 4, 1, 6}), n.weights({4, 6, 1})}));
  n.result(n.op("Add-1", {heads(n, {2, 20, 6}), n.weights({20, 6})}));
}
void heads_alone(Net& n) { n.result(softmax(n, heads(n))); }

/// What the reference kernel is off, which adds 1700 products one after the other in f32.
constexpr float kLongSum = 2e-5F;

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
    {"packed.matmul+bias+Erf", product_complement, kOften, kFixed, false},  // f16 rounds the factor
    {"packed.matmul+bias+Sigmoid+Multiply", product_gated},
    {"packed.matmul+bias+Sigmoid+Multiply", product_gated, kOften, kOpen},
    {"packed.matmul", product_gated_and_read},
    {"packed.matmul+Select", product_sloped},
    {"packed.matmul+Select", product_sloped, kOften, kOpen},
    {"packed.matmul+Select", product_sloped_by_column},
    {"packed.matmul+Select", product_sloped_by_column, kOften, kOpen},
    {"packed.matmul", product_sloped_by_row},
    {"packed.matmul", product_sloped_above},
    {"packed.matmul+residual", product_of_its_residual},
    {"packed.matmul", product_of_many_rows},
    {"packed.matmul", product_of_many_rows, kOften, kOpen},
    {"packed.matmul+bias+Gelu", many_rows_gelu},
    {"packed.matmul+residual+Relu", many_rows_residual},
    {"packed.matmul+Tanh", many_rows_long, kOften, kFixed, true, kLongSum},
    {"packed.matmul+Relu", rows_by_f16, kOften, kOpen, kF32Only},
    {"packed.matmul", row_by_large_f16, kOften, kOpen, kF32Only, kLongSum},
    {"packed.matmul", row_by_large_f16, kOften, kFixed, kF32Only, kLongSum},
    {"packed.matmul+Relu", row_by_large_turned, kOften, kOpen, true, kLongSum},
    {"packed.matmul", row_by_large_turned_f16, kOften, kOpen, kF32Only, kLongSum},
    {"packed.matmul", row_by_large_turned_f16, kOften, kFixed, kF32Only, kLongSum},
    {"packed.matmul+Relu", rows_by_shared},
    {"packed.matmul+Relu", rows_by_shared, kOften, kOpen},
    {"packed.matmul+Relu", rows_by_shared_f16, kOften, kFixed, kF32Only},
    {"packed.matmul+Relu", rows_by_shared_f16, kOften, kOpen, kF32Only},
    {"packed.matmul+Relu", row_by_column, kOften, kOpen},
    {"packed.matmul+Relu", row_by_column},
    {"packed.matmul", many_rows_by_bf16, kOften, kOpen, kF32Only},
    {"packed.matmul", many_rows_by_bf16, kOften, kFixed, kF32Only},
    {"packed.matmul+Tanh", many_rows_long, kOften, kOpen, true, kLongSum},
    {"packed.matmul+bias+Relu", heads_biased},
    {"packed.matmul+bias+residual", heads_added},
    {"packed.matmul+Select", heads_sloped},
    {"packed.matmul+bias+Gelu", rows_joined},
    {"packed.matmul", heads_apart},
    {"packed.matmul", heads_alone},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"packed_matmul", kExamples};

}  // namespace ovir::testing::patterns::packed_matmul
