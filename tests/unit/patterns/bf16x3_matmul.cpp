#include "pattern_examples.hpp"

namespace ovir::testing::patterns::bf16x3_matmul {
namespace {

int rows(Net& n) { return matmul(n, n.input({3, 50, 72}), n.weights({72, 40})); }

void many_rows(Net& n) { n.result(rows(n)); }
void many_rows_bias_gelu(Net& n) { n.result(n.op("Gelu-7", {n.op("Add-1", {rows(n), n.weights({40})})})); }
void many_rows_residual(Net& n) {
  n.result(n.op("Relu-1", {n.op("Add-1", {n.op("Add-1", {rows(n), n.weights({40})}), n.input({3, 50, 40})})}));
}
void large(Net& n) { n.result(matmul(n, n.input({96, 1700}), n.weights({1700, 200}))); }

// clang-format off
constexpr Example kExamples[] = {
    {"bf16x3.matmul", many_rows},
    {"bf16x3.matmul+bias+Gelu", many_rows_bias_gelu},
    {"bf16x3.matmul+bias+residual+Relu", many_rows_residual},
    {"bf16x3.matmul", large},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"bf16x3_matmul", kExamples};

}  // namespace ovir::testing::patterns::bf16x3_matmul
