#include "pattern_examples.hpp"

namespace ovir::testing::patterns::group_normalization {
namespace {

void group_normalization(Net& n) {
  n.result(n.op("GroupNormalization-12", {n.input({2, 6, 5, 3}), n.weights({6}), n.weights({6})},
                {{"num_groups", "3"}, {"epsilon", "1e-4"}}));
}
void group_normalization_swish(Net& n) {
  const auto y = n.op("GroupNormalization-12", {n.input({2, 6, 5, 3}), n.weights({6}), n.weights({6})},
                      {{"num_groups", "2"}, {"epsilon", "1e-4"}});
  n.result(n.op("Swish-4", {y}));
}

// clang-format off
constexpr Example kExamples[] = {
    {"group_normalization", group_normalization},
    {"group_normalization", group_normalization, kOnce, kOpen},
    {"group_normalization+Swish", group_normalization_swish},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"group_normalization", kExamples};

}  // namespace ovir::testing::patterns::group_normalization
