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
/// Rows that are long enough, or windows large enough, to be computed where they lie.
void wide_max_pool(Net& n) {
  n.result(n.op("MaxPool-1", {n.input({2, 5, 9, 61})}, pooled({{"rounding_type", "ceil"}})));
}
void wide_dilated(Net& n) {
  const Texts each{{"kernel", "3,2"},   {"strides", "1,1"},   {"pads_begin", "2,1"},
                   {"pads_end", "1,0"}, {"dilations", "2,3"}, {"index_element_type", "i64"}};
  n.result(n.op("MaxPool-8", {n.input({2, 5, 70, 61})}, each, 2));
}
void wide_average(Net& n, const char* exclude) {
  const Texts each{{"kernel", "3,5"}, {"strides", "2,2"}, {"pads_begin", "1,3"}, {"pads_end", "2,1"}};
  auto more = each;
  more.emplace_back("exclude-pad", exclude);
  n.result(n.op("AvgPool-1", {n.input({2, 5, 80, 61})}, more));
}
void wide_average_inside(Net& n) { wide_average(n, "true"); }
void wide_average_padded(Net& n) { wide_average(n, "false"); }
void large_windows(Net& n) {
  const Texts each{
      {"kernel", "7,9"}, {"strides", "3,3"}, {"pads_begin", "3,0"}, {"pads_end", "3,0"}, {"exclude-pad", "true"}};
  n.result(n.op("AvgPool-1", {n.input({2, 5, 13, 30})}, each));
}
void whole_plane(Net& n) {
  const Texts each{{"kernel", "7,8"}, {"strides", "1,1"}, {"pads_begin", "0,0"}, {"pads_end", "0,0"}};
  n.result(n.op("MaxPool-1", {n.input({2, 5, 7, 8})}, each));
}
void long_line(Net& n) {
  const Texts each{{"kernel", "4"}, {"strides", "2"}, {"pads_begin", "1"}, {"pads_end", "2"}, {"exclude-pad", "true"}};
  n.result(n.op("AvgPool-1", {n.input({2, 5, 90})}, each));
}

/// Zeros before, of data from 0 on, which a maximum need not see, and of others, which it does.
int after_zeros(Net& n, int x, const char* type, const char* exclude) {
  const auto pads = [&](i64 row, i64 column) { return n.indices({0, 0, row, column}); };
  const auto padded = n.op("Pad-1", {x, pads(1, 0), pads(1, 2), n.numbers({0}, {})}, {{"pad_mode", "constant"}});
  Texts each{{"kernel", "3,3"}, {"strides", "2,2"}, {"pads_begin", "0,0"}, {"pads_end", "0,0"}};
  if (*exclude) each.push_back({"exclude-pad", exclude});
  return n.op(type, {padded}, each);
}
void max_pool_after_zeros(Net& n) {
  const auto x = convolution(n, n.input({2, 17, 9, 8}), {32, 17, 1, 1}, windows(2));
  n.result(after_zeros(n, relu(n, x), "MaxPool-1", ""));
}
void max_pool_after_zeros_of_any(Net& n) {
  max_pool(n);
  n.result(after_zeros(n, n.input({2, 19, 9, 8}), "MaxPool-1", ""));
}
void average_pool_after_zeros(Net& n) { n.result(after_zeros(n, n.input({2, 19, 9, 8}), "AvgPool-1", "true")); }

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
    {"blocked.max_pool", wide_max_pool, kOften, kOpen},
    {"blocked.max_pool", wide_dilated},
    {"blocked.max_pool", whole_plane},
    {"blocked.average_pool", wide_average_inside, kOnce},
    {"blocked.average_pool", wide_average_padded},
    {"blocked.average_pool", large_windows},
    {"blocked.average_pool", long_line},
    {"blocked.max_pool", max_pool_after_zeros},
    {"blocked.max_pool", max_pool_after_zeros, kOnce, kOpen},
    {"blocked.max_pool", max_pool_after_zeros_of_any, kOnce},
    {"blocked.average_pool", average_pool_after_zeros},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"blocked_pooling", kExamples};

}  // namespace ovir::testing::patterns::blocked_pooling
