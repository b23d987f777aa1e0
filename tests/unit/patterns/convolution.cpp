#include "pattern_examples.hpp"

namespace ovir::testing::patterns::convolution {
namespace {

void small_depthwise(Net& n) {
  const auto x = n.input({2, 6, 9, 11});
  n.result(relu(n, n.op("GroupConvolution-1", {x, n.weights({6, 1, 1, 3, 3})}, windows(2, 1, 1))));
}

// clang-format off
constexpr Example kExamples[] = {
    {"convolution+bias", direct_residual, kOnce, kOpen},
    {"convolution+bias+Elu", small_plane, kOnce, kOpen},
    {"convolution+Relu", small_depthwise, kOnce, kOpen},
    {"convolution+bias+PRelu", direct_row, kOnce, kOpen},
    {"convolution", computed_filters, kOnce, kOpen},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"convolution", kExamples};

}  // namespace ovir::testing::patterns::convolution
