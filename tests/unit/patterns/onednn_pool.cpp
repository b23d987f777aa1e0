#include "pattern_examples.hpp"

namespace ovir::testing::patterns::onednn_pool {
namespace {

void solid_pool(Net& n) {
  const Texts each{{"kernel", "2,2,2"}, {"strides", "2,2,2"}, {"pads_begin", "0,0,0"}, {"pads_end", "0,0,0"}};
  n.result(n.op("MaxPool-1", {n.input({1, 16, 4, 6, 8})}, each));
}

// clang-format off
constexpr Example kExamples[] = {
    {"onednn.pool", solid_pool},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"onednn.pool", kExamples};

}  // namespace ovir::testing::patterns::onednn_pool
