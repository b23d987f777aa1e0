#include "pattern_examples.hpp"

namespace ovir::testing::patterns::planar_pooling {
namespace {

void average(Net& n) { n.result(n.op("AdaptiveAvgPool-8", {n.input({2, 5, 9, 31}), n.indices({4, 7})})); }
void maximum(Net& n) { n.result(n.op("AdaptiveMaxPool-8", {n.input({2, 5, 9, 31}), n.indices({4, 7})}, {}, 2)); }
void volume(Net& n) { n.result(n.op("AdaptiveAvgPool-8", {n.input({2, 3, 5, 9, 11}), n.indices({2, 3, 1})})); }
void line(Net& n) { n.result(n.op("AdaptiveMaxPool-8", {n.input({2, 3, 40}), n.indices({10})}, {}, 2)); }
/// More windows than there are numbers.
void spread(Net& n) { n.result(n.op("AdaptiveAvgPool-8", {n.input({2, 3, 4, 5}), n.indices({7, 13})})); }
void large_window(Net& n) {
  const Texts each{{"kernel", "33,33"}, {"strides", "1,1"}, {"pads_begin", "0,0"}, {"pads_end", "0,0"}};
  n.result(n.op("MaxPool-1", {n.input({1, 16, 34, 35})}, each));
}
/// Whose last windows go beyond the padded plane.
void beyond(Net& n) {
  n.result(n.op("AvgPool-1", {n.input({2, 5, 10, 9})}, pooled({{"exclude-pad", "false"}, {"rounding_type", "ceil"}})));
}

// clang-format off
constexpr Example kExamples[] = {
    {"adaptive.average_pool", average},
    {"adaptive.average_pool", volume, kOnce, kOpen},
    {"adaptive.average_pool", spread},
    {"adaptive.max_pool", maximum, kOften, kOpen},
    {"adaptive.max_pool", line},
    {"planar.max_pool", large_window, kOnce},
    {"planar.average_pool", beyond, kOnce},
    {"planar.average_pool", beyond, kOnce, kOpen},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"planar_pooling", kExamples};

}  // namespace ovir::testing::patterns::planar_pooling
