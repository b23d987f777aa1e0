#include "pattern_examples.hpp"

#include <cmath>

namespace ovir::testing {

int Net::input(PartialShape shape) {
  if (batch_) shape[0] = *batch_;
  const auto x = model.graph.parameter(next_name(), type_, shape);
  return rolls_ends_ ? rolled(x) : x;
}

int Net::weights(const Shape& shape, float scale) {
  std::vector<float> values(static_cast<std::size_t>(shape.count()));
  const auto seed = static_cast<std::size_t>(names_);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = scale * (static_cast<float>((i * 37 + seed * 11) % 113) / 113.0F - 0.5F);
  return constant(convert(floats(shape, values), type_));
}

int Net::numbers(std::initializer_list<float> values, const Shape& shape) {
  return constant(convert(floats(shape, values), type_));
}

int Net::op(std::string_view operation, const std::vector<int>& inputs, const spec::AttributeTexts& attributes,
            int outputs) {
  const auto dash = operation.rfind('-');
  std::string ports;
  for (int o = 0; o < outputs; ++o)
    ports += spec::output_port(static_cast<int>(inputs.size()) + o, ElementType::dynamic);
  layers_.push_back(model.graph.layer(next_name(), std::string(operation.substr(0, dash)),
                                      "opset" + std::string(operation.substr(dash + 1)), spec::data_element(attributes),
                                      inputs, ports));
  return layers_.back();
}

void Net::result(int layer, int port) {
  if (rolls_ends_ && port == 0) layer = rolled(layer);
  model.graph.result(next_name(), layer, model.graph.first_output(layer) + port);
}

// --- what several patterns take

/// Attributes for `axes` spatial axes, the same along each.
Texts windows(int axes, int stride, int pad, int dilation) {
  const auto each = [&](int value) {
    auto text = std::to_string(value);
    for (int axis = 1; axis < axes; ++axis) text += "," + std::to_string(value);
    return text;
  };
  return {{"strides", each(stride)}, {"dilations", each(dilation)}, {"pads_begin", each(pad)}, {"pads_end", each(pad)}};
}
int convolution(Net& n, int x, const Shape& filters, const Texts& attributes) {
  return n.op("Convolution-1", {x, n.weights(filters)}, attributes);
}
int biased(Net& n, int x, i64 channels) { return n.op("Add-1", {x, n.weights({1, channels, 1, 1})}); }
int normalized(Net& n, int x, i64 channels) {
  for (const auto* type : {"Subtract-1", "Multiply-1", "Add-1"}) x = n.op(type, {x, n.weights({1, channels, 1, 1})});
  return x;
}
int relu(Net& n, int x) { return n.op("Relu-1", {x}); }
int sloped(Net& n, int x, int slopes) {
  const auto test = n.op("Greater-1", {x, n.numbers({0}, {1, 1})}), product = n.op("Multiply-1", {slopes, x});
  return n.op("Select-1", {test, x, product});
}
int passing(Net& n, int x) { return n.op("Sigmoid-1", {x}); }
int softmax(Net& n, int x) { return n.op("Softmax-8", {x}, {{"axis", "1"}}); }
Texts pooled(Texts more) {
  const Texts common{{"kernel", "3,3"}, {"strides", "2,2"}, {"pads_begin", "1,1"}, {"pads_end", "1,1"}};
  more.insert(more.end(), common.begin(), common.end());
  return more;
}
int matmul(Net& n, int a, int b, bool transposed_b) {
  return n.op("MatMul-1", {a, b}, {{"transpose_a", "false"}, {"transpose_b", transposed_b ? "true" : "false"}});
}
int lengths(Net& n) { return n.model.graph.parameter("lengths", ElementType::i32, {2}); }
int quantized(Net& n, int x) {
  const auto low = n.numbers({-2}, {}), high = n.numbers({2 - 1.0F / 64}, {});
  return n.op("FakeQuantize-1", {x, low, high, low, high}, {{"levels", "256"}});
}
int quantized_by_channel(Net& n, int x, i64 channels, bool positive) {
  std::vector<float> low, high;
  for (i64 c = 0; c < channels; ++c) {
    // Levels of 1 / 64 to 4 / 64, of which 0 is one.
    const auto step = static_cast<float>(1 + c % 4) / 64;
    const auto zero = static_cast<float>(positive && c % 5 != 3 ? 0 : 40 + c * 13 % 90);
    low.push_back(-zero * step);
    high.push_back((255 - zero) * step);
  }
  const Shape shape{1, channels, 1, 1};
  const auto of = [&](const std::vector<float>& limits) {
    return n.constant(convert(floats(shape, limits), n.type()));
  };
  const auto lows = of(low), highs = of(high);
  return n.op("FakeQuantize-1", {x, lows, highs, lows, highs}, {{"levels", "256"}});
}
int narrow_weights(Net& n, const Shape& shape, ElementType type) {
  std::vector<float> values(static_cast<std::size_t>(shape.count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 37 % 1021) / 1024.0F - 0.5F;
  return n.op("Convert-1", {n.constant(convert(floats(shape, values), type))}, {{"destination_type", "f32"}});
}
int stepped(Net& n, const Shape& shape, std::initializer_list<float> steps) {
  std::vector<float> values(static_cast<std::size_t>(shape.count()));
  // Few of them large, as weights are.
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::round(127 * std::pow((static_cast<float>(i * 37 % 255) - 127) / 127, 5.0F));
  const auto whole = n.op("Convert-1", {n.constant(convert(floats(shape, values), ElementType::i8))},
                          {{"destination_type", std::string(name(n.type()))}});
  Shape of(shape.rank(), 1);
  of[0] = static_cast<i64>(steps.size());
  return n.op("Multiply-1", {whole, n.numbers(steps, of)});
}

int as_f32(Net& n, int x) {
  return n.type() == ElementType::f32 ? x : n.op("Convert-1", {x}, {{"destination_type", "f32"}});
}
int decompressed(Net& n, ElementType codes, i64 rows, bool grouped, bool zero, i64 matrices, i64 group) {
  constexpr i64 columns = 96;
  std::vector<i64> shape, whole;
  if (matrices > 0) whole.push_back(matrices);
  whole.push_back(rows);
  shape = whole;
  whole.push_back(columns);
  if (grouped) shape.push_back(columns / group);
  shape.push_back(grouped ? group : columns);
  auto of_groups = shape;
  of_groups.back() = 1;
  const bool is_signed =
      codes != ElementType::u2 && codes != ElementType::u3 && codes != ElementType::u4 && codes != ElementType::u8;
  const std::size_t most = bit_width(codes) < 4 ? std::size_t{1} << bit_width(codes) : 16;
  const auto small = [&](const Shape& s, std::size_t step) {
    std::vector<float> values(static_cast<std::size_t>(s.count()));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>((i * step + i / 7) % most) - (is_signed ? 8.0F : 0.0F);
    return n.op("Convert-1", {n.constant(pack(convert(floats(s, values), codes)))},
                {{"destination_type", std::string(name(n.type()))}});
  };
  auto y = small(shape, 5);
  if (zero) y = n.op("Subtract-1", {y, small(of_groups, 3)});
  y = n.op("Multiply-1", {y, n.weights(of_groups)});
  if (grouped) y = n.op("Reshape-1", {y, n.constant(Tensor::vector(whole))}, {{"special_zero", "false"}});
  return n.type() == ElementType::f32 ? y : n.op("Convert-1", {y}, {{"destination_type", "f32"}});
}

void direct_residual(Net& n) {
  const auto x = n.input({1, 33, 5, 5});
  const auto y =
      biased(n,
             convolution(n, x, {33, 33, 3, 5},
                         {{"strides", "1,1"}, {"pads_begin", "1,2"}, {"pads_end", "1,2"}, {"dilations", "1,1"}}),
             33);
  n.result(softmax(n, relu(n, n.op("Add-1", {passing(n, x), y}))));
}
void direct_row(Net& n) {
  const auto x = n.input({2, 20, 15});
  const auto y = n.op("Convolution-1", {x, n.weights({19, 20, 5})}, windows(1, 1, 2));
  n.result(n.op("PRelu-1", {n.op("Add-1", {y, n.weights({1, 19, 1})}), n.weights({19})}));
}
void small_plane(Net& n) {
  const auto x = n.input({2, 6, 9, 11});
  const auto y = n.op("GroupConvolution-1", {x, n.weights({2, 5, 3, 3, 2})}, windows(2, 2, 1));
  n.result(n.op("Elu-1", {biased(n, y, 10)}, {{"alpha", "0.5"}}));
}
void computed_filters(Net& n) {
  n.result(n.op("Convolution-1", {n.input({1, 5, 9, 8}), n.input({7, 5, 3, 3})}, windows(2, 1, 1)));
}
void pointwise(Net& n) {
  const auto x = n.input({2, 40, 5, 7});
  const auto y = convolution(n, x, {21, 40, 1, 1}, windows(2));
  n.result(n.op("HSwish-4", {biased(n, y, 21)}));
}
void depthwise(Net& n) {
  const auto x = n.input({2, 21, 9, 8});
  const auto y = biased(n, n.op("GroupConvolution-1", {x, n.weights({21, 1, 1, 3, 3})}, windows(2, 2, 1)), 21);
  n.result(n.op("Clamp-1", {y}, {{"min", "0"}, {"max", "6"}}));
}
void product(Net& n) { n.result(matmul(n, n.input({5, 37}), n.weights({37, 70}))); }
void product_gelu(Net& n) {
  const auto y = matmul(n, n.input({2, 9, 40}), n.weights({35, 40}), true);
  n.result(n.op("Gelu-7", {n.op("Add-1", {y, n.weights({35})})}, {{"approximation_mode", "ERF"}}));
}
void product_rows(Net& n) { n.result(n.op("Tanh-1", {matmul(n, n.input({20, 24}), n.weights({19, 24}), true)})); }
void product_residual(Net& n) {
  const auto x = n.input({2, 6, 33});
  const auto y = n.op("Add-1", {matmul(n, x, n.weights({33, 33})), n.weights({1, 1, 33})});
  n.result(softmax(n, n.op("Add-1", {y, passing(n, x)})));
}
void product_few_residual(Net& n) {
  const auto x = n.input({3, 140});
  const auto y = n.op("Add-1", {matmul(n, x, n.weights({140, 140}), true), n.weights({140})});
  n.result(softmax(n, n.op("Add-1", {y, passing(n, x)})));
}

namespace {

// --- between convolutions

int many(Net& n, int x) { return convolution(n, x, {32, 32, 3, 3}, windows(2, 1, 1)); }
int next_to(Net& n, int x) { return convolution(n, x, {32, 32, 1, 1}, windows(2)); }

void between_elements(Net& n) {
  const auto x = many(n, n.input({1, 32, 7, 6}));
  const auto y = n.op("Multiply-1", {n.op("Tanh-1", {x}), n.op("Sigmoid-1", {n.input({1, 32, 1, 1})})});
  n.result(next_to(n, n.op("Multiply-1", {y, next_to(n, y)})));
}
void between_max_pools(Net& n) {
  const auto x = many(n, n.input({2, 32, 7, 6}));
  n.result(next_to(n, n.op("MaxPool-1", {x}, pooled({{"rounding_type", "ceil"}}))));
}
void between_average_pools(Net& n) {
  const auto x = many(n, n.input({2, 32, 7, 6}));
  n.result(next_to(n, n.op("AvgPool-1", {x}, pooled({{"exclude-pad", "true"}, {"rounding_type", "floor"}}))));
}
void between_concats(Net& n) {
  const auto x = n.input({2, 32, 7, 6}), y = n.op("Concat-1", {many(n, x), next_to(n, x)}, {{"axis", "1"}});
  n.result(convolution(n, y, {16, 64, 1, 1}, windows(2)));
}
void between_splits(Net& n) {
  const auto x = many(n, n.input({2, 32, 7, 6}));
  const auto y = n.op("Split-1", {x, n.index(1)}, {{"num_splits", "2"}}, 2);
  n.result(convolution(n, y, {16, 16, 3, 3}, windows(2, 1, 1)));
  n.result(y, 1);
}
void between_means(Net& n) {
  const auto x = many(n, n.input({2, 32, 7, 6}));
  const auto y = n.op("ReduceMean-1", {x, n.indices({2, 3})}, {{"keep_dims", "true"}});
  n.result(n.op("Multiply-1", {x, n.op("Sigmoid-1", {next_to(n, y)})}));
}
/// Channels that do not fill their blocks; scalars leave the zeros beyond them, but not that of the last Add.
void between_few(Net& n) {
  const auto x = convolution(n, n.input({2, 24, 7, 6}), {24, 24, 3, 3}, windows(2, 1, 1));
  const auto mean = n.op("ReduceMean-1", {x, n.indices({2, 3})}, {{"keep_dims", "true"}});
  const auto gate = n.op("Sigmoid-1", {convolution(n, mean, {24, 24, 1, 1}, windows(2))});
  const auto y = relu(n, n.op("Multiply-1", {n.op("Multiply-1", {x, n.numbers({0.5F}, {})}), gate}));
  const auto z = convolution(n, n.op("Add-1", {x, y}), {24, 24, 1, 1}, windows(2));
  n.result(n.op("ReduceL2-4", {y, n.indices({2, 3})}, {{"keep_dims", "true"}}));
  n.result(convolution(n, n.op("Multiply-1", {z, n.op("Add-1", {y, n.numbers({2}, {})})}), {8, 24, 1, 1}, windows(2)));
}
/// Indices that nobody reads.
void between_pools_with_indices(Net& n) {
  const auto x = relu(n, many(n, n.input({2, 32, 7, 6})));
  auto attributes = pooled({{"rounding_type", "floor"}, {"index_element_type", "i64"}, {"axis", "0"}});
  attributes.emplace_back("dilations", "1,1");
  const auto y = n.op("MaxPool-8", {x}, attributes, 2);
  n.result(convolution(n, n.op("Concat-1", {next_to(n, y), y}, {{"axis", "1"}}), {8, 64, 1, 1}, windows(2)));
}
void between_transposes(Net& n) {
  const auto x = many(n, n.input({2, 32, 7, 6}));
  const auto y = n.op("Transpose-1", {x, n.indices({0, 2, 3, 1})});
  n.result(next_to(n, n.op("Transpose-1", {relu(n, y), n.indices({0, 3, 1, 2})})));
}
void between_views(Net& n) {  // the second view's shape has other blocks
  const auto reshaped = [&](int x, std::initializer_list<i64> shape) {
    return n.op("Reshape-1", {x, n.indices(shape)}, {{"special_zero", "true"}});
  };
  const auto x = relu(n, n.op("Abs-1", {reshaped(many(n, n.input({2, 32, 7, 6})), {0, 0, -1})}));
  n.result(next_to(n, reshaped(reshaped(x, {2, 1, 32, -1}), {2, 32, 7, 6})));
}
void between_quantizations(Net& n) {
  const auto x = many(n, n.input({2, 32, 7, 6}));
  const auto low = n.numbers({-3}, {}), high = n.numbers({3}, {});
  n.result(next_to(n, n.op("FakeQuantize-1", {x, low, high, low, high}, {{"levels", "256"}})));
}
void between_depthwise(Net& n) {
  const auto x = many(n, n.input({2, 20 + 12, 7, 6}));
  const auto y = n.op("GroupConvolution-1", {x, n.weights({32, 1, 1, 3, 3})}, windows(2, 2, 1));
  n.result(next_to(n, n.op("PRelu-1", {y, n.weights({32})})));
}

/// Branches of all that keeps bf16 between convolutions: parts of blocks and whole ones, and those that are half empty.
void between_branches(Net& n) {
  const auto x = relu(n, convolution(n, n.input({2, 20, 9, 10}), {80, 20, 1, 1}, windows(2)));
  const auto halves = n.op("VariadicSplit-1", {x, n.index(1), n.indices({32, 48})}, {}, 2);
  const auto mean = n.op("ReduceMean-1", {x, n.indices({2, 3})}, {{"keep_dims", "true"}});
  const auto gated = n.op("Multiply-1", {x, n.op("Sigmoid-1", {mean})});
  const auto joined =
      n.op("Concat-1", {n.model.graph.output(halves, 1), gated, n.model.graph.output(halves, 0)}, {{"axis", "1"}});
  const auto large = n.op("Interpolate-4", {joined, n.indices({18, 20}), n.numbers({2, 2}, {2}), n.indices({2, 3})},
                          {{"mode", "nearest"},
                           {"shape_calculation_mode", "sizes"},
                           {"nearest_mode", "floor"},
                           {"coordinate_transformation_mode", "asymmetric"}});
  const auto small = n.op("MaxPool-1", {large}, pooled({{"rounding_type", "floor"}}));
  const auto part = n.op("Slice-8", {joined, n.indices({16}), n.indices({144}), n.indices({1}), n.indices({1})});
  n.result(convolution(n, n.op("Add-1", {small, joined}), {8, 160, 3, 3}, windows(2, 1, 1)));
  n.result(convolution(n, part, {8, 128, 1, 1}, windows(2)));
}

/// Parts of channels that begin anywhere.
void between_parts(Net& n) {
  const auto x = relu(n, convolution(n, n.input({2, 20, 7, 6}), {78, 20, 1, 1}, windows(2)));
  const auto parts = n.op("Split-1", {x, n.index(1)}, {{"num_splits", "3"}}, 3);
  const auto second = n.model.graph.output(parts, 1), third = n.model.graph.output(parts, 2);
  const auto part = n.op("Slice-8", {x, n.indices({5}), n.indices({31}), n.indices({1}), n.indices({1})});
  const auto y = n.op("Add-1", {convolution(n, parts, {26, 26, 3, 3}, windows(2, 1, 1)), second});
  n.result(convolution(n, n.op("Concat-1", {y, third, part}, {{"axis", "1"}}), {8, 78, 1, 1}, windows(2)));
}

/// Results, and a part that nobody reads.
void between_results(Net& n) {
  const auto x = n.input({1, 20, 7, 6}), y = relu(n, convolution(n, x, {64, 20, 1, 1}, windows(2)));
  n.result(next_to(n, n.op("Split-1", {y, n.index(1)}, {{"num_splits", "2"}}, 2)));
  n.result(n.op("HSwish-4", {n.op("Abs-1", {many(n, relu(n, convolution(n, x, {32, 20, 1, 1}, windows(2))))})}));
}

/// Of a few convolutions whose operands are rounded to 8 bits.
constexpr float kBf16 = 3e-2F;

// clang-format off
constexpr Example kBlocked[] = {
    {"elementwise.Multiply", between_elements},
    {"blocked.max_pool", between_max_pools},
    {"blocked.average_pool", between_average_pools},
    {"concat", between_concats},
    {"split", between_splits},
    {"reduction", between_means},
    {"reduction", between_few},
    {"elementwise.Multiply+Multiply+Relu", between_few},
    {"transpose", between_transposes},
    {"quantize", between_quantizations},
    {"pointwise.convolution", between_views},
    {"depthwise.convolution+PRelu", between_depthwise},
    {"elementwise.Multiply", between_elements, kOften, kFixed, true, kBf16, Precision::bf16},
    {"blocked.max_pool", between_max_pools, kOften, kFixed, true, kBf16, Precision::bf16},
    {"blocked.max_pool", between_pools_with_indices, kOften, kFixed, true, kBf16, Precision::bf16},
    {"elementwise.Multiply+Multiply+Relu", between_few, kOften, kFixed, true, kBf16, Precision::bf16},
    {"reduction", between_few, kOften, kFixed, true, kBf16, Precision::bf16},
    {"blocked.average_pool", between_average_pools, kOften, kFixed, true, kBf16, Precision::bf16},
    {"concat", between_concats, kOften, kFixed, true, kBf16, Precision::bf16},
    {"elementwise.Add", between_branches, kOften, kFixed, true, kBf16, Precision::bf16},
    {"reduction", between_branches, kOften, kFixed, true, kBf16, Precision::bf16},
    {"concat", between_branches, kOften, kFixed, true, kBf16, Precision::bf16},
    {"split", between_branches, kOften, kFixed, true, kBf16, Precision::bf16},
    {"bf16.convolution+Relu", between_results, kOften, kFixed, true, kBf16, Precision::bf16},
    {"split", between_parts, kOften, kFixed, true, kBf16, Precision::bf16},
    {"slice", between_parts, kOften, kFixed, true, kBf16, Precision::bf16},
    {"slice", between_branches, kOften, kFixed, true, kBf16, Precision::bf16},
    {"resize.nearest", between_branches, kOften, kFixed, true, kBf16, Precision::bf16},
};
// clang-format on

}  // namespace

std::span<const Example> blocked_examples() { return kBlocked; }

}  // namespace ovir::testing
