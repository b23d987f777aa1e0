#include "pattern_examples.hpp"

namespace ovir::testing::patterns::transpose {
namespace {

void transpose(Net& n) { n.result(n.op("Transpose-1", {n.input({2, 3, 4, 5}), n.indices({0, 2, 3, 1})})); }
void transpose_batch(Net& n) { n.result(n.op("Transpose-1", {n.input({2, 3, 4}), n.indices({1, 0, 2})})); }

// clang-format off
constexpr Example kExamples[] = {
    {"transpose", transpose},
    {"transpose", transpose_batch, kOnce, kOpen},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"transpose", kExamples};

}  // namespace ovir::testing::patterns::transpose
