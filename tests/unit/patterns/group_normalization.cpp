#include "pattern_examples.hpp"

namespace ovir::testing::patterns::group_normalization {
namespace {

void group_normalization(Net& n) {
  n.result(n.op("GroupNormalization-12", {n.input({2, 6, 5, 3}), n.weights({6}), n.weights({6})},
                {{"num_groups", "3"}, {"epsilon", "1e-4"}}));
}

// clang-format off
constexpr Example kExamples[] = {
    {"group_normalization", group_normalization},
    {"group_normalization", group_normalization, kOnce, kOpen},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"group_normalization", kExamples};

}  // namespace ovir::testing::patterns::group_normalization
