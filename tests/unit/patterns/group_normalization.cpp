#include "moments.hpp"

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

const Texts kSpecialZero{{"special_zero", "true"}};

/// As exporters to ONNX, and TensorFlow, spell it out: by the axes of the groups, which are not those of the data.
int spelled_out(Net& n, int x, std::initializer_list<i64> groups) {
  const auto y = n.op("Reshape-1", {x, n.indices(groups)}, kSpecialZero);
  std::vector<i64> axes;
  for (i64 i = 2; i < std::ssize(groups); ++i) axes.push_back(i);
  const auto z = n.op("MVN-6", {y, n.constant(Tensor::vector(axes))},
                      {{"normalize_variance", "true"}, {"eps", "1e-4"}, {"eps_mode", "inside_sqrt"}});
  return n.op("Reshape-1", {z, n.op("ShapeOf-3", {x}, {{"output_type", "i64"}})}, kSpecialZero);
}
int with_factors(Net& n, int x, i64 channels) {
  return n.op("Add-1", {n.op("Multiply-1", {x, n.weights({channels, 1, 1})}), n.weights({1, channels, 1, 1})});
}
void one_group(Net& n) { n.result(spelled_out(n, n.input({2, 6, 5, 3}), {0, 1, -1})); }
void groups_with_factors(Net& n) {
  n.result(n.op("Swish-4", {with_factors(n, spelled_out(n, n.input({2, 6, 5, 3}), {0, 3, -1}), 6)}));
}
void groups_by_axes(Net& n) { n.result(spelled_out(n, n.input({2, 6, 5, 3}), {2, 3, 2, 5, 3})); }
/// Planes are joined to rows behind it.
void groups_to_rows(Net& n) {
  const auto x = convolution(n, n.input({2, 17, 6, 7}), {32, 17, 1, 1}, windows(2));
  const auto y = n.op("Reshape-1", {x, n.indices({0, 4, -1})}, kSpecialZero);
  const auto z = n.op("MVN-6", {y, n.indices({2})},
                      {{"normalize_variance", "true"}, {"eps", "1e-4"}, {"eps_mode", "inside_sqrt"}});
  const auto rows = n.op("Reshape-1", {z, n.indices({0, 32, 42})}, kSpecialZero);
  n.result(convolution(n, n.op("Multiply-1", {rows, n.weights({32, 1})}), {18, 32, 1}, windows(1)));
}
/// Groups of one channel, so that nothing is reshaped back.
void groups_of_channels(Net& n) {
  const auto y = n.op("Reshape-1", {n.input({2, 6, 9, 3}), n.indices({0, 6, -1})}, kSpecialZero);
  n.result(relu(n, n.op("MVN-6", {y, n.indices({2})},
                        {{"normalize_variance", "true"}, {"eps", "1e-4"}, {"eps_mode", "inside_sqrt"}})));
}
/// Swish, too, spelled out, between convolutions.
void groups_between_convolutions(Net& n) {
  const auto x = convolution(n, n.input({2, 17, 20, 21}), {32, 17, 1, 1}, windows(2));
  const auto y = with_factors(n, spelled_out(n, x, {0, 4, -1}), 32);
  n.result(convolution(n, n.op("Multiply-1", {n.op("Sigmoid-1", {y}), y}), {18, 32, 1, 1}, windows(2)));
}

/// As Keras spells it out, of rows of channels.
int rows_by_moments(Net& n, int x, i64 groups) {
  const auto grouped = n.op("Reshape-1", {x, n.indices({2, 5, 7, groups, 32 / groups})}, kSpecialZero);
  const auto factor = n.weights({1, 1, 1, groups, 32 / groups}), offset = n.weights({groups, 32 / groups});
  const auto y = by_moments(n, grouped, {1, 2, 4}, factor, offset);
  return n.op("Reshape-1", {y, n.indices({2, 5, 7, 32})}, kSpecialZero);
}
int moved(Net& n, int x, std::initializer_list<i64> order) { return n.op("Transpose-1", {x, n.indices(order)}); }
void rows(Net& n) { n.result(rows_by_moments(n, n.input({2, 5, 7, 32}), 4)); }
void rows_to_blocked(Net& n) {
  const auto y = moved(n, rows_by_moments(n, n.input({2, 5, 7, 32}), 32), {0, 3, 1, 2});
  n.result(convolution(n, relu(n, y), {18, 32, 1, 1}, windows(2)));
}
void rows_from_blocked(Net& n) {
  const auto x = convolution(n, n.input({2, 17, 5, 7}), {32, 17, 1, 1}, windows(2));
  n.result(n.op("Swish-4", {rows_by_moments(n, moved(n, x, {0, 2, 3, 1}), 2)}));
}
void rows_between_convolutions(Net& n) {
  const auto x = convolution(n, n.input({2, 17, 5, 7}), {32, 17, 1, 1}, windows(2));
  const auto y = moved(n, rows_by_moments(n, moved(n, x, {0, 2, 3, 1}), 8), {0, 3, 1, 2});
  n.result(convolution(n, n.op("Swish-4", {y}), {18, 32, 1, 1}, windows(2)));
}
/// Others read what is transposed.
void rows_read_twice(Net& n) {
  const auto x = moved(n, convolution(n, n.input({2, 17, 5, 7}), {32, 17, 1, 1}, windows(2)), {0, 2, 3, 1});
  n.result(n.op("Add-1", {x, rows_by_moments(n, x, 8)}));
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
    {"group_normalization", one_group},
    {"group_normalization", one_group, kOnce, kOpen},
    {"group_normalization+Multiply+Add+Swish", groups_with_factors},
    {"group_normalization+Multiply+Add+Swish", groups_with_factors, kOnce, kOpen},
    {"group_normalization", groups_by_axes},
    {"group_normalization+Multiply", groups_to_rows},
    {"group_normalization+Multiply", groups_to_rows, kOnce, kOpen},
    {"group_normalization+Relu", groups_of_channels},
    {"group_normalization+Multiply+Add+Sigmoid+Multiply", groups_between_convolutions},
    {"group_normalization+Multiply+Add+Sigmoid+Multiply", groups_between_convolutions, kOnce},
    {"group_normalization+Multiply+Add+Sigmoid+Multiply", groups_between_convolutions, kOften, kFixed, true, 1e-2F,
     Precision::bf16},
    {"group_normalization+Multiply+Add", rows},
    {"group_normalization+Multiply+Add", rows, kOnce},
    {"group_normalization+Multiply+Add+Relu", rows_to_blocked},
    {"group_normalization+Multiply+Add+Swish", rows_from_blocked},
    {"group_normalization+Multiply+Add+Swish", rows_between_convolutions},
    {"group_normalization+Multiply+Add+Swish", rows_between_convolutions, kOften, kFixed, true, 1e-2F, Precision::bf16},
    {"group_normalization+Multiply+Add", rows_read_twice},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"group_normalization", kExamples};

}  // namespace ovir::testing::patterns::group_normalization
