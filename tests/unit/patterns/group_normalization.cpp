#include "pattern_examples.hpp"

namespace ovir::testing::patterns::group_normalization {
namespace {

void group_normalization(Net& n) {
  n.result(n.op("GroupNormalization-12", {n.input({2, 6, 5, 3}), n.weights({6}), n.weights({6})},
                {{"num_groups", "3"}, {"epsilon", "1e-4"}}));
}
void group_normalization_swish(Net& n) {
  const auto y = n.op("GroupNormalization-12", {n.input({2, 6, 5, 3}), n.weights({6}), n.weights({6})},
                      {{"num_groups", "2"}, {"epsilon", "1e-4"}});
  n.result(n.op("Swish-4", {y}));
}

/// Between convolutions, which keep values blocked: several groups a block, one, and several blocks a group.
template <int channels, int groups>
void group_normalization_blocked(Net& n) {
  const spec::AttributeTexts plain{
      {"strides", "1"}, {"dilations", "1"}, {"pads_begin", "0"}, {"pads_end", "0"}, {"auto_pad", "explicit"}};
  const auto a = n.op("Convolution-1", {n.input({2, 16, 301}), n.weights({channels, 16, 1})}, plain);
  const auto b = n.op("GroupNormalization-12", {a, n.weights({channels}), n.weights({channels})},
                      {{"num_groups", std::to_string(groups)}, {"epsilon", "1e-4"}});
  n.result(n.op("Convolution-1", {n.op("Gelu-7", {b}, {{"approximation_mode", "erf"}}), n.weights({16, channels, 1})},
                plain));
}

// clang-format off
constexpr Example kExamples[] = {
    {"group_normalization", group_normalization},
    {"group_normalization", group_normalization, kOnce, kOpen},
    {"group_normalization+Swish", group_normalization_swish},
    {"group_normalization+Gelu", group_normalization_blocked<32, 32>},
    {"group_normalization+Gelu", group_normalization_blocked<32, 4>},
    {"group_normalization+Gelu", group_normalization_blocked<64, 2>, kOnce},
    {"group_normalization+Gelu", group_normalization_blocked<48, 3>, kOften, kFixed, true, 1e-2F, Precision::bf16},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"group_normalization", kExamples};

}  // namespace ovir::testing::patterns::group_normalization
