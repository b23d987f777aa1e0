#include "pattern_examples.hpp"

namespace ovir::testing::patterns::layer_normalization {
namespace {

int layer_norm(Net& n, int x, i64 axis) {
  return n.op("MVN-6", {x, n.indices({axis})},
              {{"normalize_variance", "true"}, {"eps", "1e-5"}, {"eps_mode", "inside_sqrt"}});
}
void normalization(Net& n) { n.result(layer_norm(n, n.input({2, 5, 33}), -1)); }
void normalization_scaled(Net& n) {
  const auto y = n.op("Multiply-1", {layer_norm(n, n.input({2, 5, 33}), 2), n.weights({33})});
  n.result(n.op("Add-1", {y, n.weights({1, 1, 33})}));
}
void normalization_plane(Net& n) {
  n.result(n.op("MVN-6", {n.input({2, 3, 4, 5}), n.indices({3, 2})},
                {{"normalize_variance", "true"}, {"eps", "1e-3"}, {"eps_mode", "outside_sqrt"}}));
}

// clang-format off
constexpr Example kExamples[] = {
    {"normalization", normalization},
    {"normalization+Multiply+Add", normalization_scaled},
    {"normalization+Multiply+Add", normalization_scaled, kOnce, kOpen},
    {"normalization", normalization_plane},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"layer_normalization", kExamples};

}  // namespace ovir::testing::patterns::layer_normalization
