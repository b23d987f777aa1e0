#include "moments.hpp"

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

void spelled_out_bare(Net& n) { n.result(by_moments(n, n.input({2, 5, 33}), {-1})); }
void spelled_out_scaled(Net& n) { n.result(by_moments(n, n.input({2, 5, 33}), {-1}, n.weights({1, 1, 33}))); }
void spelled_out_all(Net& n) {
  n.result(by_moments(n, n.input({2, 5, 33}), {-1}, n.weights({1, 1, 33}), n.weights({33})));
}
/// The product of the mean is taken from the offset.
void spelled_out_offset(Net& n) {
  const auto x = n.input({2, 5, 33}), axis = n.indices({-1});
  const Texts kept{{"keep_dims", "true"}};
  const auto mean = n.op("ReduceMean-1", {x, axis}, kept);
  const auto variance = n.op("ReduceMean-1", {n.op("SquaredDifference-1", {x, mean}), axis}, kept);
  const auto sum = n.op("Add-1", {variance, n.numbers({0.001F}, {1, 1, 1})});
  const auto factor = n.op("Multiply-1", {n.op("Power-1", {sum, n.numbers({-0.5F}, {1})}), n.weights({1, 1, 33})});
  const auto shift = n.op("Subtract-1", {n.weights({1, 1, 33}), n.op("Multiply-1", {mean, factor})});
  n.result(n.op("Add-1", {n.op("Multiply-1", {x, factor}), shift}));
}
/// What reads x, too, is left as it is.
void by_squares_bare(Net& n) {
  const auto x = n.op("Sigmoid-1", {n.input({2, 5, 32})});
  n.result(n.op("Add-1", {x, by_squares(n, x, {2, 5, 32})}));
}
void by_squares_all(Net& n) {
  n.result(by_squares(n, n.input({2, 5, 32}), {2, 5, 32}, n.weights({1, 1, 32}), n.weights({1, 1, 32})));
}
/// Factors that differ by row are no row's.
void spelled_out_by_row(Net& n) {
  normalization(n);
  n.result(by_moments(n, n.input({2, 5, 33}), {-1}, n.weights({1, 5, 1})));
}

// clang-format off
constexpr Example kExamples[] = {
    {"normalization", normalization},
    {"normalization+Multiply+Add", normalization_scaled},
    {"normalization+Multiply+Add", normalization_scaled, kOnce, kOpen},
    {"normalization", normalization_plane},
    {"normalization", spelled_out_bare},
    {"normalization+Multiply", spelled_out_scaled},
    {"normalization+Multiply+Add", spelled_out_all},
    {"normalization+Multiply+Add", spelled_out_all, kOnce, kOpen},
    {"normalization+Multiply+Add", spelled_out_offset},
    {"normalization", by_squares_bare},
    {"normalization+Multiply+Add", by_squares_all},
    {"normalization+Multiply+Add", by_squares_all, kOnce},
    {"normalization", spelled_out_by_row},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"layer_normalization", kExamples};

}  // namespace ovir::testing::patterns::layer_normalization
