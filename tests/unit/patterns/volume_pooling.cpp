#include "pattern_examples.hpp"

namespace ovir::testing::patterns::volume_pooling {
namespace {

Texts cubes(const char* kernel, const char* strides, const char* begin, const char* end, Texts more = {}) {
  more.insert(more.end(), {{"kernel", kernel}, {"strides", strides}, {"pads_begin", begin}, {"pads_end", end}});
  return more;
}

void halved(Net& n) {
  n.result(n.op("MaxPool-1", {n.input({2, 19, 4, 6, 8})}, cubes("2,2,2", "2,2,2", "0,0,0", "0,0,0")));
}
/// More taps than planes are pooled with where they lie.
void many_taps(Net& n) {
  n.result(n.op("MaxPool-1", {n.input({1, 19, 7, 9, 8})}, cubes("5,5,5", "2,1,2", "2,2,2", "2,2,2")));
}
void overlapping(Net& n) {
  const Texts ceil{{"rounding_type", "ceil"}};
  n.result(n.op("MaxPool-1", {n.input({1, 16, 7, 9, 8})}, cubes("3,3,2", "2,2,1", "1,1,0", "1,0,1", ceil)));
}
void dilated(Net& n) {
  const Texts more{{"dilations", "2,1,2"}, {"index_element_type", "i64"}};
  n.result(n.op("MaxPool-8", {n.input({1, 3, 9, 6, 7})}, cubes("3,2,2", "1,2,1", "2,0,1", "1,1,0", more), 2));
}
void average(Net& n) {
  const Texts more{{"exclude-pad", "true"}};
  n.result(n.op("AvgPool-1", {n.input({2, 17, 5, 6, 7})}, cubes("3,2,3", "2,1,2", "1,1,1", "1,0,2", more)));
}
void average_padded(Net& n) {
  const Texts more{{"exclude-pad", "false"}};
  n.result(n.op("AvgPool-1", {n.input({1, 32, 5, 6, 7})}, cubes("3,2,3", "2,1,2", "1,1,1", "1,0,2", more)));
}
void whole(Net& n) {
  const Texts more{{"exclude-pad", "true"}};
  n.result(n.op("AvgPool-1", {n.input({1, 40, 3, 5, 4})}, cubes("3,5,4", "1,1,1", "0,0,0", "0,0,0", more)));
}
/// Rows that are long enough to be computed where they lie.
void wide(Net& n) {
  const Texts more{{"exclude-pad", "true"}};
  n.result(n.op("AvgPool-1", {n.input({2, 3, 5, 60, 61})}, cubes("3,2,3", "2,1,2", "1,1,1", "1,0,2", more)));
}
void wide_max(Net& n) {
  n.result(n.op("MaxPool-1", {n.input({2, 3, 5, 6, 61})}, cubes("3,3,2", "2,2,1", "1,1,0", "1,0,1")));
}
/// Between convolutions, whose values are blocked.
void between(Net& n, const char* pool, Texts more) {
  const auto x = convolution(n, n.input({1, 16, 5, 6, 7}), {20, 16, 3, 3, 3}, windows(3, 1, 1));
  const auto y = n.op(pool, {x}, cubes("3,2,3", "2,1,2", "1,1,1", "1,0,2", std::move(more)));
  n.result(convolution(n, y, {16, 20, 1, 1, 1}, windows(3)));
}
void max_between(Net& n) { between(n, "MaxPool-1", {}); }
void average_between(Net& n) { between(n, "AvgPool-1", {{"exclude-pad", "true"}}); }

/// Of levels and of bf16, which others read as they are, in f32, or both.
void max_of_narrow(Net& n, bool levels) {
  const auto narrow = [&](int x) { return levels ? quantized(n, x) : x; };
  const auto filters = [&](const Shape& shape) { return levels ? stepped(n, shape) : n.weights(shape); };
  const auto x = n.op("Convolution-1", {narrow(n.input({2, 36, 5, 6, 7})), filters({70, 36, 1, 1, 1})}, windows(3));
  const auto y = n.op("MaxPool-1", {narrow(x)}, cubes("3,2,3", "2,1,2", "1,1,1", "1,0,2"));
  n.result(n.op("Convolution-1", {y, filters({40, 70, 3, 1, 1})}, windows(3)));
  n.result(n.op("Sin-1", {n.op("MaxPool-1", {y}, cubes("1,2,2", "1,2,2", "0,0,0", "0,0,0"))}));
}
void max_of_levels(Net& n) { max_of_narrow(n, true); }
void max_of_bf16(Net& n) { max_of_narrow(n, false); }

// clang-format off
constexpr Example kExamples[] = {
    {"volume.max_pool", halved},
    {"volume.max_pool", halved, kOnce, kOpen},
    {"volume.max_pool", many_taps},
    {"volume.max_pool", overlapping},
    {"volume.max_pool", dilated},
    {"volume.average_pool", average},
    {"volume.average_pool", average, kOften, kOpen},
    {"volume.average_pool", average_padded, kOnce},
    {"volume.average_pool", whole},
    {"volume.average_pool", wide},
    {"volume.max_pool", wide_max, kOften, kOpen},
    {"volume.max_pool", max_between},
    {"volume.average_pool", average_between},
    {"volume.max_pool", max_of_levels, kOften, kFixed, true, 1.0F / 64, Precision::int8},
    {"volume.max_pool", max_of_bf16, kOften, kFixed, true, 2e-2F, Precision::bf16},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"volume_pooling", kExamples};

}  // namespace ovir::testing::patterns::volume_pooling
