#include "pattern_examples.hpp"

namespace ovir::testing::patterns::onednn_pool {
namespace {

/// A window of more values than other patterns take.
void large_window(Net& n) {
  const Texts each{{"kernel", "33,33"}, {"strides", "1,1"}, {"pads_begin", "0,0"}, {"pads_end", "0,0"}};
  n.result(n.op("MaxPool-1", {n.input({1, 16, 34, 35})}, each));
}

// clang-format off
constexpr Example kExamples[] = {
    {"onednn.pool", large_window},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"onednn.pool", kExamples};

}  // namespace ovir::testing::patterns::onednn_pool
