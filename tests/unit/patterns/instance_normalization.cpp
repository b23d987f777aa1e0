#include "pattern_examples.hpp"

namespace ovir::testing::patterns::instance_normalization {
namespace {

int normalized(Net& n, int x, std::initializer_list<i64> axes) {
  return n.op("MVN-6", {x, n.indices(axes)},
              {{"normalize_variance", "true"}, {"eps", "1e-4"}, {"eps_mode", "inside_sqrt"}});
}
int scaled(Net& n, int x, i64 channels, i64 axes) {
  std::vector<i64> dims(static_cast<std::size_t>(axes + 1), 1);
  dims[0] = channels;
  return n.op("Add-1", {n.op("Multiply-1", {n.weights(dims), x}), n.weights(dims)});
}

void plain(Net& n) { n.result(normalized(n, n.input({2, 6, 5, 3}), {3, 2})); }
void with_factors(Net& n) { n.result(relu(n, scaled(n, normalized(n, n.input({2, 7, 5, 3}), {2, 3}), 7, 2))); }
void offset(Net& n) {
  n.result(n.op("Add-1", {normalized(n, n.input({2, 7, 9, 2}), {2, 3}), n.weights({1, 7, 1, 1})}));
}
/// Between convolutions, which keep values blocked.
void blocked(Net& n) {
  const auto x = convolution(n, n.input({2, 17, 20, 21}), {32, 17, 1, 1}, windows(2));
  n.result(convolution(n, relu(n, scaled(n, normalized(n, x, {2, 3}), 32, 2)), {18, 32, 1, 1}, windows(2)));
}
/// What comes is blocked, what goes is not.
void blocked_volume(Net& n) {
  const auto x = convolution(n, n.input({1, 17, 3, 4, 5}), {16, 17, 1, 1, 1}, windows(3));
  n.result(scaled(n, normalized(n, x, {2, 3, 4}), 16, 3));
}

// clang-format off
constexpr Example kExamples[] = {
    {"instance_normalization", plain},
    {"instance_normalization", plain, kOften, kOpen},
    {"instance_normalization+Multiply+Add+Relu", with_factors},
    {"instance_normalization+Multiply+Add+Relu", with_factors, kOnce, kOpen},
    {"instance_normalization+Add", offset},
    {"instance_normalization+Multiply+Add+Relu", blocked},
    {"instance_normalization+Multiply+Add+Relu", blocked, kOnce},
    {"instance_normalization+Multiply+Add+Relu", blocked, kOften, kFixed, true, 1e-2F, Precision::bf16},
    {"instance_normalization+Multiply+Add", blocked_volume},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"instance_normalization", kExamples};

}  // namespace ovir::testing::patterns::instance_normalization
