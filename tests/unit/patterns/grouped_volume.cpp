#include "pattern_examples.hpp"

namespace ovir::testing::patterns::grouped_volume {
namespace {

void depthwise(Net& n) {
  const auto x = n.input({1, 24, 4, 8, 7});
  n.result(n.op("GroupConvolution-1", {x, n.weights({24, 1, 1, 3, 3, 3})}, windows(3, 1, 1)));
}
void grouped(Net& n) {
  n.result(n.op("GroupConvolution-1", {n.input({1, 12, 4, 5, 6}), n.weights({3, 6, 4, 2, 3, 3})}, windows(3, 1, 1)));
}
/// Sums that are finished in a pass of their own.
void finished(Net& n) {
  const auto x =
      n.op("GroupConvolution-1", {n.input({2, 12, 4, 5, 6}), n.weights({3, 6, 4, 2, 3, 3})}, windows(3, 1, 1));
  n.result(n.op("Add-1", {n.op("Swish-4", {x}), n.input({2, 18, 5, 5, 6})}));
}

// clang-format off
constexpr Example kExamples[] = {
    {"volume.depthwise.convolution", depthwise},
    {"volume.depthwise.convolution", depthwise, kOnce, kOpen},
    {"volume.direct.convolution", grouped},
    {"volume.direct.convolution+Swish+residual", finished},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"grouped_volume", kExamples};

}  // namespace ovir::testing::patterns::grouped_volume
