#include "pattern_examples.hpp"

namespace ovir::testing::patterns::onednn_matmul {
namespace {

void product_left(Net& n) {
  n.result(n.op("MatMul-1", {n.input({2, 3, 24, 8}), n.input({2, 3, 24, 16})},
                {{"transpose_a", "true"}, {"transpose_b", "false"}}));
}

// clang-format off
constexpr Example kExamples[] = {
    {"onednn.matmul", product_left},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"onednn.matmul", kExamples};

}  // namespace ovir::testing::patterns::onednn_matmul
