#include "pattern_examples.hpp"

namespace ovir::testing::patterns::onednn_convolution {
namespace {

void solid(Net& n) {
  n.result(n.op("Convolution-1", {n.input({1, 16, 4, 5, 6}), n.weights({16, 16, 3, 3, 3})}, windows(3, 1, 1)));
}

// clang-format off
constexpr Example kExamples[] = {
    {"onednn.convolution", solid},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"onednn.convolution", kExamples};

}  // namespace ovir::testing::patterns::onednn_convolution
