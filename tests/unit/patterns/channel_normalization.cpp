#include "moments.hpp"

namespace ovir::testing::patterns::channel_normalization {
namespace {

int normalized(Net& n, int x) {
  return n.op("MVN-6", {x, n.indices({1})},
              {{"normalize_variance", "true"}, {"eps", "1e-4"}, {"eps_mode", "inside_sqrt"}});
}
int scaled(Net& n, int x, i64 channels) {
  return n.op("Add-1", {n.op("Multiply-1", {n.weights({channels, 1, 1}), x}), n.weights({channels, 1, 1})});
}

void plain(Net& n) { n.result(normalized(n, n.input({2, 6, 5, 3}))); }
void row(Net& n) { n.result(normalized(n, n.input({3, 150, 37}))); }
void with_factors(Net& n) { n.result(relu(n, scaled(n, normalized(n, n.input({2, 7, 9, 21})), 7))); }
/// Between convolutions, which keep values blocked.
void blocked(Net& n) {
  const auto x = convolution(n, n.input({2, 17, 20, 21}), {32, 17, 1, 1}, windows(2));
  n.result(convolution(n, n.op("Gelu-7", {scaled(n, normalized(n, x), 32)}), {18, 32, 1, 1}, windows(2)));
}
/// What comes is blocked, what goes is not.
void blocked_volume(Net& n) {
  n.result(normalized(n, convolution(n, n.input({1, 17, 3, 4, 5}), {16, 17, 1, 1, 1}, windows(3))));
}
void many_channels(Net& n) {
  n.result(normalized(n, convolution(n, n.input({1, 17, 3, 5}), {1040, 17, 1, 1}, windows(2))));
}

void spelled_out(Net& n) { n.result(by_moments(n, n.input({2, 6, 5, 3}), {1})); }
/// Between convolutions, which keep values blocked.
void spelled_out_blocked(Net& n) {
  const auto x = convolution(n, n.input({2, 17, 20, 21}), {32, 17, 1, 1}, windows(2));
  const auto y = by_moments(n, x, {1}, n.weights({32, 1, 1}), n.weights({1, 32, 1, 1}));
  n.result(convolution(n, n.op("Gelu-7", {y}), {18, 32, 1, 1}, windows(2)));
}
/// Factors by pixel are none by channel.
void spelled_out_by_pixel(Net& n) {
  n.result(normalized(n, n.input({2, 6, 5, 3})));
  n.result(by_moments(n, n.input({2, 6, 5, 6}), {1}, n.weights({6})));
}

// clang-format off
constexpr Example kExamples[] = {
    {"channel_normalization", plain},
    {"channel_normalization", plain, kOften, kOpen},
    {"channel_normalization", row, kOnce, kOpen},
    {"channel_normalization+Multiply+Add+Relu", with_factors},
    {"channel_normalization+Multiply+Add+Relu", with_factors, kOnce, kOpen},
    {"channel_normalization+Multiply+Add+Gelu", blocked},
    {"channel_normalization+Multiply+Add+Gelu", blocked, kOnce},
    {"channel_normalization+Multiply+Add+Gelu", blocked, kOften, kFixed, true, 1e-2F, Precision::bf16},
    {"channel_normalization", blocked_volume},
    {"channel_normalization", many_channels},
    {"channel_normalization", spelled_out},
    {"channel_normalization", spelled_out, kOnce, kOpen},
    {"channel_normalization+Multiply+Add+Gelu", spelled_out_blocked},
    {"channel_normalization+Multiply+Add+Gelu", spelled_out_blocked, kOnce},
    {"channel_normalization", spelled_out_by_pixel},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"channel_normalization", kExamples};

}  // namespace ovir::testing::patterns::channel_normalization
