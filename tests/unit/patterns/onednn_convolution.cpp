#include "pattern_examples.hpp"

namespace ovir::testing::patterns::onednn_convolution {
namespace {

/// More taps than other patterns take.
void large_kernel(Net& n) {
  n.result(n.op("Convolution-1", {n.input({1, 16, 18, 19}), n.weights({16, 16, 17, 17})}, windows(2, 1, 1)));
}

// clang-format off
constexpr Example kExamples[] = {
    {"onednn.convolution", large_kernel},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"onednn.convolution", kExamples};

}  // namespace ovir::testing::patterns::onednn_convolution
