#include "pattern_examples.hpp"

namespace ovir::testing::patterns::packed_matmul {
namespace {

// clang-format off
constexpr Example kExamples[] = {
    {"packed.matmul", product},
    {"packed.matmul", product, kOften, kOpen},
    {"packed.matmul+bias+Gelu", product_gelu},
    {"packed.matmul+bias+Gelu", product_gelu, kOften, kOpen},
    {"packed.matmul+bias+residual", product_residual},
    {"packed.matmul+bias+residual", product_few_residual},
    {"packed.matmul+Tanh", product_rows, kOften, kOpen},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"packed_matmul", kExamples};

}  // namespace ovir::testing::patterns::packed_matmul
