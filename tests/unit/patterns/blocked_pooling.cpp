#include "pattern_examples.hpp"

namespace ovir::testing::patterns::blocked_pooling {
namespace {

void max_pool(Net& n) { n.result(n.op("MaxPool-1", {n.input({2, 19, 9, 8})}, pooled({{"rounding_type", "ceil"}}))); }
void max_pool_8(Net& n) {
  n.result(
      n.op("MaxPool-8", {n.input({1, 16, 11, 9})}, pooled({{"dilations", "2,2"}, {"index_element_type", "i64"}}), 2));
}
void average_pool(Net& n) {
  n.result(n.op("AvgPool-1", {n.input({2, 19, 9, 8})}, pooled({{"exclude-pad", "true"}, {"rounding_type", "floor"}})));
}
/// Rounded up, where all windows lie within the padded plane all the same.
void average_pool_up(Net& n) {
  n.result(n.op("AvgPool-1", {n.input({2, 19, 9, 11})}, pooled({{"exclude-pad", "true"}, {"rounding_type", "ceil"}})));
}
void average_pool_padded(Net& n) {
  n.result(n.op("AvgPool-1", {n.input({1, 32, 9, 8})}, pooled({{"exclude-pad", "false"}, {"rounding_type", "floor"}})));
}
void line(Net& n) {
  const Texts each{{"kernel", "3"}, {"strides", "2"}, {"pads_begin", "1"}, {"pads_end", "0"}};
  n.result(n.op("MaxPool-1", {n.input({2, 19, 30})}, each));
}
void average_line(Net& n) {
  const Texts each{{"kernel", "4"}, {"strides", "3"}, {"pads_begin", "1"}, {"pads_end", "2"}, {"exclude-pad", "true"}};
  n.result(n.op("AvgPool-1", {n.input({2, 5, 31})}, each));
}

// clang-format off
constexpr Example kExamples[] = {
    {"blocked.max_pool", max_pool},
    {"blocked.max_pool", max_pool, kOnce, kOpen},
    {"blocked.max_pool", max_pool_8},
    {"blocked.average_pool", average_pool},
    {"blocked.average_pool", average_pool_padded, kOnce},
    {"blocked.average_pool", average_pool_up},
    {"blocked.max_pool", line},
    {"blocked.max_pool", line, kOnce, kOpen},
    {"blocked.average_pool", average_line},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"blocked_pooling", kExamples};

}  // namespace ovir::testing::patterns::blocked_pooling
