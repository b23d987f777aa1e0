#include "moments.hpp"

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

const Texts kSpecialZero{{"special_zero", "true"}};
void plain(Net& n) { n.result(normalized(n, n.input({2, 6, 5, 3}), {3, 2})); }
void with_factors(Net& n) { n.result(relu(n, scaled(n, normalized(n, n.input({2, 7, 5, 3}), {2, 3}), 7, 2))); }
void row(Net& n) { n.result(relu(n, normalized(n, n.input({2, 7, 33}), {2}))); }
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

/// As torch.export decomposes it, one mean for what is centered, another for the variance.
int decomposed(Net& n, int x, i64 channels, int factors) {
  const auto mean = [&](int of, const char* keep) {
    return n.op("ReduceMean-1", {of, n.indices({0, 2, 3})}, {{"keep_dims", keep}});
  };
  const auto aside = [&](int of) { return n.op("Reshape-1", {of, n.indices({1, channels, 1, 1})}, kSpecialZero); };
  const auto centered = n.op("Subtract-1", {x, mean(x, "true")});
  const auto variance = mean(n.op("Multiply-1", {centered, centered}), "false");
  const auto root = n.op("Sqrt-1", {n.op("Add-1", {variance, n.numbers({1e-4F}, {1})})});
  const auto negative = n.op("Multiply-1", {aside(mean(x, "false")), n.numbers({-1}, {1, 1, 1, 1})});
  return n.op("Multiply-1", {n.op("Add-1", {x, negative}), aside(n.op("Divide-1", {factors, root}))});
}
void decomposed_plain(Net& n) { n.result(decomposed(n, n.input({1, 7, 9, 5}), 7, n.weights({7}))); }
void decomposed_blocked(Net& n) {
  const auto x = convolution(n, n.input({1, 17, 20, 21}), {32, 17, 1, 1}, windows(2));
  const auto y = n.op("Add-1", {decomposed(n, x, 32, n.numbers({1}, {1})), n.weights({1, 32, 1, 1})});
  n.result(convolution(n, relu(n, y), {18, 32, 1, 1}, windows(2)));
}
/// As wide as there are channels: means that nothing puts aside are subtracted by column.
void decomposed_by_column(Net& n) {
  const auto x = n.input({1, 7, 9, 7});
  const auto mean = [&](int of) { return n.op("ReduceMean-1", {of, n.indices({0, 2, 3})}, {{"keep_dims", "false"}}); };
  const auto centered = n.op("Subtract-1", {x, mean(x)});
  const auto sum = n.op("Add-1", {mean(n.op("Multiply-1", {centered, centered})), n.numbers({1e-4F}, {1})});
  const auto factor = n.op("Divide-1", {n.weights({7}), n.op("Sqrt-1", {sum})});
  n.result(n.op("Multiply-1", {centered, factor}));
  n.result(normalized(n, n.input({2, 7, 9, 5}), {2, 3}));
}
/// Of several images the means are those of a batch.
void decomposed_batch(Net& n) {
  n.result(normalized(n, n.input({2, 7, 9, 5}), {2, 3}));
  n.result(decomposed(n, n.input({2, 7, 9, 5}), 7, n.weights({7})));
}

void moments(Net& n) { n.result(by_moments(n, n.input({2, 7, 9, 5}), {2, 3}, n.weights({7, 1, 1}))); }
void moments_blocked(Net& n) {
  const auto x = convolution(n, n.input({2, 17, 20, 21}), {32, 17, 1, 1}, windows(2));
  const auto y = by_moments(n, x, {3, 2}, -1, n.weights({1, 32, 1, 1}));
  n.result(convolution(n, relu(n, y), {18, 32, 1, 1}, windows(2)));
}

// clang-format off
constexpr Example kExamples[] = {
    {"instance_normalization", plain},
    {"instance_normalization", plain, kOften, kOpen},
    {"instance_normalization+Multiply+Add+Relu", with_factors},
    {"instance_normalization+Multiply+Add+Relu", with_factors, kOnce, kOpen},
    {"instance_normalization+Add", offset},
    {"instance_normalization+Relu", row},
    {"instance_normalization+Relu", row, kOnce, kOpen},
    {"instance_normalization+Multiply+Add+Relu", blocked},
    {"instance_normalization+Multiply+Add+Relu", blocked, kOnce},
    {"instance_normalization+Multiply+Add+Relu", blocked, kOften, kFixed, true, 1e-2F, Precision::bf16},
    {"instance_normalization+Multiply+Add", blocked_volume},
    {"instance_normalization+Multiply", moments},
    {"instance_normalization+Multiply", moments, kOnce, kOpen},
    {"instance_normalization+Add+Relu", moments_blocked},
    {"instance_normalization", decomposed_plain},
    {"instance_normalization", decomposed_plain, kOnce},
    {"instance_normalization+Add+Relu", decomposed_blocked},
    {"instance_normalization", decomposed_batch},
    {"instance_normalization", decomposed_by_column},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"instance_normalization", kExamples};

}  // namespace ovir::testing::patterns::instance_normalization
