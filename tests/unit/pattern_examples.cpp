#include "pattern_examples.hpp"

namespace ovir::testing {

int Net::input(PartialShape shape) {
  if (open_) shape[0] = Dim();
  return model.graph.parameter(next_name(), type_, shape);
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
  model.graph.result(next_name(), layer, model.graph.first_output(layer) + port);
}

namespace {

using Texts = spec::AttributeTexts;

// --- convolutions

/// Attributes for `axes` spatial axes, the same along each.
Texts windows(int axes, int stride = 1, int pad = 0, int dilation = 1) {
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
int relu(Net& n, int x) { return n.op("Relu-1", {x}); }

void direct(Net& n) {  // channels that do not fill their blocks, a plane too small for Winograd
  n.result(convolution(n, n.input({1, 20, 5, 4}), {18, 20, 3, 3}, windows(2, 1, 1)));
}
void direct_large(Net& n) {
  const auto x = n.input({1, 17, 24, 26});
  n.result(relu(n, biased(n, convolution(n, x, {18, 17, 3, 3}, windows(2, 1, 1)), 18)));
}
void direct_strided(Net& n) {
  const auto x = n.input({2, 24, 13, 11});
  const auto y = biased(n, convolution(n, x, {33, 24, 3, 3}, windows(2, 2, 1)), 33);
  n.result(n.op("Clamp-1", {y}, {{"min", "-0.5"}, {"max", "0.75"}}));
}
void direct_grouped(Net& n) {
  const auto x = n.input({1, 12, 7, 9});
  n.result(n.op("GroupConvolution-1", {x, n.weights({3, 6, 4, 3, 3})}, windows(2, 1, 2, 2)));
}
void direct_row(Net& n) {
  const auto x = n.input({2, 20, 15});
  const auto y = n.op("Convolution-1", {x, n.weights({19, 20, 5})}, windows(1, 1, 2));
  n.result(n.op("PRelu-1", {n.op("Add-1", {y, n.weights({1, 19, 1})}), n.weights({19})}));
}
void direct_residual(Net& n) {
  const auto x = n.input({1, 33, 5, 5});
  const auto y = biased(n, convolution(n, x, {33, 33, 3, 3}, windows(2, 1, 1)), 33);
  n.result(relu(n, n.op("Add-1", {x, y})));
}
void winograd2(Net& n) {
  const auto x = n.input({1, 40, 9, 7});
  const auto y = biased(n, convolution(n, x, {35, 40, 3, 3}, windows(2, 1, 1)), 35);
  n.result(n.op("Add-1", {n.op("Swish-4", {y}), n.input({1, 35, 9, 7})}));
}
void winograd4(Net& n) {
  const auto x = n.input({2, 32, 25, 26});
  n.result(n.op("Sigmoid-1", {convolution(n, x, {34, 32, 3, 3}, windows(2, 1, 1))}));
}
void pointwise(Net& n) {
  const auto x = n.input({2, 40, 5, 7});
  const auto y = convolution(n, x, {21, 40, 1, 1}, windows(2));
  n.result(n.op("HSwish-4", {biased(n, y, 21)}));
}
void planar(Net& n) {
  const auto x = n.input({1, 3, 23, 21});
  n.result(relu(n, biased(n, convolution(n, x, {18, 3, 3, 3}, windows(2, 1, 1)), 18)));
}
void depthwise(Net& n) {
  const auto x = n.input({2, 21, 9, 8});
  const auto y = biased(n, n.op("GroupConvolution-1", {x, n.weights({21, 1, 1, 3, 3})}, windows(2, 2, 1)), 21);
  n.result(n.op("Clamp-1", {y}, {{"min", "0"}, {"max", "6"}}));
}
void transposed(Net& n) {
  const auto x = n.input({1, 20, 5, 6});
  const auto y = n.op("ConvolutionBackpropData-1", {x, n.weights({20, 18, 4, 4})}, windows(2, 2, 1));
  n.result(relu(n, biased(n, y, 18)));
}
void small_plane(Net& n) {
  const auto x = n.input({2, 6, 9, 11});
  const auto y = n.op("GroupConvolution-1", {x, n.weights({2, 5, 3, 3, 2})}, windows(2, 2, 1));
  n.result(n.op("Elu-1", {biased(n, y, 10)}, {{"alpha", "0.5"}}));
}
void small_depthwise(Net& n) {
  const auto x = n.input({2, 6, 9, 11});
  n.result(relu(n, n.op("GroupConvolution-1", {x, n.weights({6, 1, 1, 3, 3})}, windows(2, 1, 1))));
}
void computed_filters(Net& n) {
  n.result(n.op("Convolution-1", {n.input({1, 5, 9, 8}), n.input({7, 5, 3, 3})}, windows(2, 1, 1)));
}
void solid(Net& n) {
  n.result(n.op("Convolution-1", {n.input({1, 16, 4, 5, 6}), n.weights({16, 16, 3, 3, 3})}, windows(3, 1, 1)));
}

// --- poolings

Texts pooled(Texts more) {
  const Texts common{{"kernel", "3,3"}, {"strides", "2,2"}, {"pads_begin", "1,1"}, {"pads_end", "1,1"}};
  more.insert(more.end(), common.begin(), common.end());
  return more;
}
void max_pool(Net& n) { n.result(n.op("MaxPool-1", {n.input({2, 19, 9, 8})}, pooled({{"rounding_type", "ceil"}}))); }
void max_pool_8(Net& n) {
  n.result(
      n.op("MaxPool-8", {n.input({1, 16, 11, 9})}, pooled({{"dilations", "2,2"}, {"index_element_type", "i64"}}), 2));
}
void average_pool(Net& n) {
  n.result(n.op("AvgPool-1", {n.input({2, 19, 9, 8})}, pooled({{"exclude-pad", "true"}, {"rounding_type", "floor"}})));
}
void average_pool_padded(Net& n) {
  n.result(n.op("AvgPool-1", {n.input({1, 32, 9, 8})}, pooled({{"exclude-pad", "false"}, {"rounding_type", "floor"}})));
}
void solid_pool(Net& n) {
  const Texts each{{"kernel", "2,2,2"}, {"strides", "2,2,2"}, {"pads_begin", "0,0,0"}, {"pads_end", "0,0,0"}};
  n.result(n.op("MaxPool-1", {n.input({1, 16, 4, 6, 8})}, each));
}

// --- products and attention

int matmul(Net& n, int a, int b, bool transposed_b = false) {
  return n.op("MatMul-1", {a, b}, {{"transpose_a", "false"}, {"transpose_b", transposed_b ? "true" : "false"}});
}
void product(Net& n) { n.result(matmul(n, n.input({5, 37}), n.weights({37, 70}))); }
void product_gelu(Net& n) {
  const auto y = matmul(n, n.input({2, 9, 40}), n.weights({35, 40}), true);
  n.result(n.op("Gelu-7", {n.op("Add-1", {y, n.weights({35})})}, {{"approximation_mode", "ERF"}}));
}
void product_residual(Net& n) {
  const auto x = n.input({2, 6, 33});
  n.result(n.op("Add-1", {n.op("Add-1", {matmul(n, x, n.weights({33, 33})), n.weights({1, 1, 33})}), x}));
}
void product_large(Net& n) {  // in an f16 model the weights are widened as a step of their own
  n.result(relu(n, matmul(n, n.input({3, 129}), n.weights({129, 130}))));
}
void product_rows(Net& n) { n.result(n.op("Tanh-1", {matmul(n, n.input({20, 24}), n.weights({19, 24}), true)})); }
void product_batches(Net& n) { n.result(matmul(n, n.input({2, 3, 4, 9}), n.input({2, 3, 9, 5}))); }
void product_left(Net& n) {
  n.result(n.op("MatMul-1", {n.input({2, 3, 24, 8}), n.input({2, 3, 24, 16})},
                {{"transpose_a", "true"}, {"transpose_b", "false"}}));
}
void scaled_attention(Net& n) {
  const auto q = n.input({2, 3, 5, 8}), k = n.input({2, 3, 7, 8}), v = n.input({2, 3, 7, 9}),
             mask = n.input({2, 1, 5, 7});
  n.result(n.op("ScaledDotProductAttention-13", {q, k, v, mask}, {{"causal", "false"}}));
}
void causal_attention(Net& n) {
  const auto q = n.input({2, 19, 16}), k = n.input({2, 19, 16}), v = n.input({2, 19, 16});
  n.result(n.op("ScaledDotProductAttention-13", {q, k, v}, {{"causal", "true"}}));
}
void spelled_attention(Net& n) {
  const auto q = n.input({1, 4, 6, 8}), k = n.input({1, 4, 6, 8}), v = n.input({1, 4, 6, 8});
  const auto scores = n.op("Multiply-1", {matmul(n, q, k, true), n.numbers({0.35F}, {})});
  const auto masked = n.op("Add-1", {scores, n.input({1, 1, 1, 6})});
  n.result(matmul(n, n.op("Softmax-8", {masked}, {{"axis", "-1"}}), v));
}
void spelled_attention_divided(Net& n) {
  const auto q = n.input({3, 6, 8}), k = n.input({3, 8, 11}), v = n.input({3, 11, 5});
  const auto scores = n.op("Divide-1", {matmul(n, q, k), n.numbers({2.8F}, {1, 1, 1})});
  n.result(matmul(n, n.op("Softmax-8", {scores}, {{"axis", "2"}}), v));
}
void spelled_attention_plain(Net& n) {
  const auto q = n.input({1, 2, 17, 8}), k = n.input({1, 2, 17, 8}), v = n.input({1, 2, 17, 8});
  n.result(matmul(n, n.op("Softmax-8", {matmul(n, q, k, true)}, {{"axis", "3"}}), v));
}

// --- rows

int layer_norm(Net& n, int x, i64 axis) {
  return n.op("MVN-6", {x, n.indices({axis})},
              {{"normalize_variance", "true"}, {"eps", "1e-5"}, {"eps_mode", "inside_sqrt"}});
}
void normalization(Net& n) { n.result(layer_norm(n, n.input({2, 5, 33}), -1)); }
void normalization_scaled(Net& n) {
  const auto y = n.op("Multiply-1", {layer_norm(n, n.input({2, 5, 33}), 2), n.weights({33})});
  n.result(n.op("Add-1", {y, n.weights({1, 1, 33})}));
}
void normalization_plane(Net& n) {
  n.result(n.op("MVN-6", {n.input({2, 3, 4, 5}), n.indices({3, 2})},
                {{"normalize_variance", "true"}, {"eps", "1e-3"}, {"eps_mode", "outside_sqrt"}}));
}
void group_normalization(Net& n) {
  n.result(n.op("GroupNormalization-12", {n.input({2, 6, 5, 3}), n.weights({6}), n.weights({6})},
                {{"num_groups", "3"}, {"epsilon", "1e-4"}}));
}
void group_normalization_swish(Net& n) {
  const auto y = n.op("GroupNormalization-12", {n.input({2, 6, 5, 3}), n.weights({6}), n.weights({6})},
                      {{"num_groups", "2"}, {"epsilon", "1e-4"}});
  n.result(n.op("Swish-4", {y}));
}
void softmax(Net& n) { n.result(n.op("Softmax-8", {n.input({3, 37})}, {{"axis", "-1"}})); }
void softmax_inner(Net& n) { n.result(n.op("Softmax-8", {n.input({3, 7, 5})}, {{"axis", "1"}})); }
void log_softmax(Net& n) { n.result(n.op("LogSoftmax-5", {n.input({3, 4, 19})}, {{"axis", "2"}})); }
void mean(Net& n) {
  n.result(n.op("ReduceMean-1", {n.input({2, 32, 5, 7}), n.indices({2, 3})}, {{"keep_dims", "true"}}));
}
void sum(Net& n) { n.result(n.op("ReduceSum-1", {n.input({3, 4, 35}), n.indices({-1})}, {{"keep_dims", "false"}})); }
void maximum(Net& n) { n.result(n.op("ReduceMax-1", {n.input({3, 9, 5}), n.indices({1})}, {{"keep_dims", "true"}})); }
void minimum(Net& n) {
  n.result(n.op("ReduceMin-1", {n.input({3, 9, 5}), n.indices({0, 1})}, {{"keep_dims", "false"}}));
}
void quantize(Net& n) {
  n.result(n.op("FakeQuantize-1",
                {n.input({2, 5, 3, 7}), n.numbers({-0.5F}, {}), n.numbers({0.5F}, {}), n.numbers({-0.5F}, {}),
                 n.numbers({0.5F}, {})},
                {{"levels", "256"}}));
}
void quantize_channels(Net& n) {
  const auto low = n.numbers({-0.5F, -0.25F, -0.125F}, {1, 3, 1}), high = n.numbers({0.5F, 0.25F, 0.125F}, {1, 3, 1});
  n.result(n.op("FakeQuantize-1", {n.input({2, 3, 9}), low, high, low, high}, {{"levels", "16"}}));
}

// --- elements

void chain(Net& n) {  // operands of every width, one of them twice
  const auto x = n.input({2, 5, 33});
  auto y = n.op("Add-1", {n.op("Multiply-1", {x, n.weights({33})}), n.input({1, 5, 1})});
  y = n.op("Subtract-1", {n.op("Tanh-1", {y}), x});
  n.result(n.op("Maximum-1", {n.op("Sigmoid-1", {y}), n.numbers({0.5F}, {})}));
}
void chain_of_two(Net& n) {
  const auto x = n.input({3, 21}), y = n.input({3, 21});
  n.result(n.op("SquaredDifference-1", {n.op("Exp-1", {x}), n.op("Divide-1", {y, n.numbers({3}, {1})})}));
}
void element(Net& n) { n.result(n.op("SoftPlus-4", {n.input({3, 77})})); }
void element_twice(Net& n) {
  const auto x = n.input({3, 7});
  n.result(n.op("Multiply-1", {x, x}));
}
void grown(Net& n) {  // the output is larger than either operand
  n.result(n.op("Add-1", {n.input({4, 1, 5}), n.weights({3, 1})}));
}

// --- movement

void transpose(Net& n) { n.result(n.op("Transpose-1", {n.input({2, 3, 4, 5}), n.indices({0, 2, 3, 1})})); }
void transpose_batch(Net& n) { n.result(n.op("Transpose-1", {n.input({2, 3, 4}), n.indices({1, 0, 2})})); }
void concat(Net& n) {
  const auto x = n.input({2, 3, 5});
  n.result(n.op("Concat-1", {x, n.input({2, 4, 5}), n.weights({2, 1, 5}), x}, {{"axis", "1"}}));
}
void concat_open(Net& n) { n.result(n.op("Concat-1", {n.input({2, 5}), n.input({2, 7})}, {{"axis", "-1"}})); }
void split(Net& n) {
  const auto y = n.op("Split-1", {n.input({2, 6, 5}), n.index(1)}, {{"num_splits", "3"}}, 3);
  for (int port = 0; port < 3; ++port) n.result(y, port);
}
void variadic_split(Net& n) {
  const auto y = n.op("VariadicSplit-1", {n.input({2, 6, 5}), n.index(-1), n.indices({1, -1, 2})}, {}, 3);
  for (int port = 0; port < 3; ++port) n.result(y, port);
}

// --- recurrent

int lengths(Net& n) { return n.model.graph.parameter("lengths", ElementType::i32, {2}); }
void lstm(Net& n, const char* direction, i64 directions) {
  const auto y = n.op("LSTMSequence-5",
                      {n.input({2, 5, 7}), n.input({2, directions, 6}), n.input({2, directions, 6}), lengths(n),
                       n.weights({directions, 24, 7}), n.weights({directions, 24, 6}), n.weights({directions, 24})},
                      {{"hidden_size", "6"}, {"direction", direction}}, 3);
  for (int port = 0; port < 3; ++port) n.result(y, port);
}
void lstm_forward(Net& n) { lstm(n, "forward", 1); }
void lstm_both(Net& n) { lstm(n, "bidirectional", 2); }
void gru_reverse(Net& n) {
  const auto y = n.op("GRUSequence-5",
                      {n.input({2, 5, 7}), n.input({2, 1, 6}), lengths(n), n.weights({1, 18, 7}), n.weights({1, 18, 6}),
                       n.weights({1, 24})},
                      {{"hidden_size", "6"}, {"direction", "reverse"}, {"linear_before_reset", "true"}}, 2);
  for (int port = 0; port < 2; ++port) n.result(y, port);
}
void lstm_cell(Net& n) {
  const auto y =
      n.op("LSTMCell-4",
           {n.input({3, 7}), n.input({3, 6}), n.input({3, 6}), n.weights({24, 7}), n.weights({24, 6}), n.weights({24})},
           {{"hidden_size", "6"}}, 2);
  for (int port = 0; port < 2; ++port) n.result(y, port);
}
void gru_cell(Net& n) {
  n.result(n.op("GRUCell-3",
                {n.input({3, 7}), n.input({3, 6}), n.weights({18, 7}), n.weights({18, 6}), n.weights({18})},
                {{"hidden_size", "6"}}));
}

constexpr i64 kOnce = 1, kOften = 100;
constexpr bool kOpen = true, kFixed = false;
/// Winograd multiplies by up to 8 on the way there and back.
constexpr float kWinograd = 2e-5F;

// clang-format off
constexpr Example kExamples[] = {
    {"blocked_convolution", "direct.convolution", direct},
    {"blocked_convolution", "direct.convolution", direct, kOften, kOpen},
    {"blocked_convolution", "direct.convolution+bias+Relu", direct_large, kOnce},
    {"blocked_convolution", "direct.convolution+bias+Relu", direct_large, kOnce, kOpen},
    {"blocked_convolution", "direct.convolution+bias+Clamp", direct_strided},
    {"blocked_convolution", "direct.convolution", direct_grouped},
    {"blocked_convolution", "direct.convolution+bias+PRelu", direct_row},
    {"blocked_convolution", "direct.convolution+bias+residual+Relu", direct_residual},
    {"blocked_convolution", "direct.convolution+bias+residual+Relu", direct_residual, kOnce},
    {"blocked_convolution", "direct.convolution+bias+Elu", small_plane},
    {"blocked_convolution", "direct.convolution+bias+Elu", small_plane, kOnce},
    {"blocked_convolution", "winograd2.convolution+bias+Swish+residual", winograd2, kOften, kFixed, true, kWinograd},
    {"blocked_convolution", "winograd4.convolution+Sigmoid", winograd4, kOften, kFixed, true, kWinograd},
    {"blocked_convolution", "winograd4.convolution+Sigmoid", winograd4, kOnce, kFixed, true, kWinograd},
    {"blocked_convolution", "pointwise.convolution+bias+HSwish", pointwise},
    {"blocked_convolution", "pointwise.convolution+bias+HSwish", pointwise, kOnce},
    {"blocked_convolution", "pointwise.convolution+bias+HSwish", pointwise, kOften, kOpen},
    {"blocked_convolution", "planar.convolution+bias+Relu", planar},
    {"blocked_convolution", "planar.convolution+bias+Relu", planar, kOnce},
    {"blocked_convolution", "planar.convolution", computed_filters},
    {"blocked_convolution", "planar.convolution", computed_filters, kOnce},
    {"blocked_convolution", "depthwise.convolution+bias+Clamp", depthwise},
    {"blocked_convolution", "depthwise.convolution+bias+Clamp", depthwise, kOnce},
    {"blocked_convolution", "transposed.convolution+bias+Relu", transposed},
    {"blocked_convolution", "transposed.convolution+bias+Relu", transposed, kOnce, kOpen},
    {"convolution", "convolution+bias", direct_residual, kOnce, kOpen},
    {"convolution", "convolution+bias+Elu", small_plane, kOnce, kOpen},
    {"convolution", "convolution+Relu", small_depthwise, kOnce, kOpen},
    {"convolution", "convolution+bias+PRelu", direct_row, kOnce, kOpen},
    {"convolution", "convolution", computed_filters, kOnce, kOpen},
    {"onednn.convolution", "onednn.convolution", solid},
    {"blocked_pooling", "blocked.max_pool", max_pool},
    {"blocked_pooling", "blocked.max_pool", max_pool, kOnce, kOpen},
    {"blocked_pooling", "blocked.max_pool", max_pool_8},
    {"blocked_pooling", "blocked.average_pool", average_pool},
    {"blocked_pooling", "blocked.average_pool", average_pool_padded, kOnce},
    {"onednn.pool", "onednn.pool", solid_pool},
    {"packed_matmul", "packed.matmul", product},
    {"packed_matmul", "packed.matmul", product, kOften, kOpen},
    {"packed_matmul", "packed.matmul+bias+Gelu", product_gelu},
    {"packed_matmul", "packed.matmul+bias+Gelu", product_gelu, kOften, kOpen},
    {"packed_matmul", "packed.matmul+bias+residual", product_residual},
    {"packed_matmul", "packed.matmul+Tanh", product_rows, kOften, kOpen},
    {"matmul", "matmul", product, kOnce, kOpen},
    {"matmul", "matmul+bias+Gelu", product_gelu, kOnce},
    {"matmul", "matmul+bias+residual", product_residual, kOnce},
    {"matmul", "matmul+Relu", product_large, kOnce},
    {"matmul", "matmul+Tanh", product_rows, kOnce, kOpen},
    {"matmul", "matmul", product_batches, kOnce},
    {"onednn.matmul", "onednn.matmul", product_left},
    {"attention", "attention", scaled_attention},
    {"attention", "attention", scaled_attention, kOnce, kOpen},
    {"attention", "attention", causal_attention},
    {"attention", "attention", spelled_attention},
    {"attention", "attention", spelled_attention, kOnce},
    {"attention", "attention", spelled_attention_divided},
    {"attention", "attention", spelled_attention_divided, kOnce, kOpen},
    {"attention", "attention", spelled_attention_plain},
    {"layer_normalization", "normalization", normalization},
    {"layer_normalization", "normalization+Multiply+Add", normalization_scaled},
    {"layer_normalization", "normalization+Multiply+Add", normalization_scaled, kOnce, kOpen},
    {"layer_normalization", "normalization", normalization_plane},
    {"group_normalization", "group_normalization", group_normalization},
    {"group_normalization", "group_normalization", group_normalization, kOnce, kOpen},
    {"group_normalization", "group_normalization+Swish", group_normalization_swish},
    {"softmax", "softmax", softmax},
    {"softmax", "softmax", softmax_inner, kOnce, kOpen},
    {"softmax", "log_softmax", log_softmax},
    {"reduction", "reduction", mean},
    {"reduction", "reduction", sum, kOnce, kOpen},
    {"reduction", "reduction", maximum},
    {"reduction", "reduction", minimum},
    {"fake_quantize", "quantize", quantize},
    {"fake_quantize", "quantize", quantize, kOnce, kOpen},
    {"fake_quantize", "quantize", quantize_channels},
    {"elementwise", "elementwise.Multiply+Add+Tanh+Subtract+Sigmoid+Maximum", chain},
    {"elementwise", "elementwise.Multiply+Add+Tanh+Subtract+Sigmoid+Maximum", chain, kOnce},
    {"elementwise", "elementwise.Exp+Divide+SquaredDifference", chain_of_two},
    {"elementwise", "elementwise.SquaredDifference", chain_of_two, kOften, kOpen},
    {"elementwise", "elementwise.SoftPlus", element, kOnce, kOpen},
    {"elementwise", "elementwise.Multiply", element_twice},
    {"elementwise", "elementwise.Add", grown, kOften, kOpen},
    {"transpose", "transpose", transpose},
    {"transpose", "transpose", transpose_batch, kOnce, kOpen},
    {"concat", "concat", concat},
    {"concat", "concat", concat_open, kOnce, kOpen},
    {"split", "split", split},
    {"split", "split", variadic_split, kOnce, kOpen},
    {"recurrent", "lstm.sequence", lstm_forward},
    {"recurrent", "lstm.sequence", lstm_both, kOnce},
    {"recurrent", "gru.sequence", gru_reverse},
    {"recurrent", "lstm.cell", lstm_cell, kOften, kOpen},
    {"recurrent", "gru.cell", gru_cell},
};
// clang-format on

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
void between_transposes(Net& n) {
  const auto x = many(n, n.input({2, 32, 7, 6}));
  const auto y = n.op("Transpose-1", {x, n.indices({0, 2, 3, 1})});
  n.result(next_to(n, n.op("Transpose-1", {relu(n, y), n.indices({0, 3, 1, 2})})));
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

// clang-format off
constexpr Example kBlocked[] = {
    {"elementwise", "elementwise.Multiply", between_elements},
    {"blocked_pooling", "blocked.max_pool", between_max_pools},
    {"blocked_pooling", "blocked.average_pool", between_average_pools},
    {"concat", "concat", between_concats},
    {"split", "split", between_splits},
    {"reduction", "reduction", between_means},
    {"transpose", "transpose", between_transposes},
    {"fake_quantize", "quantize", between_quantizations},
    {"blocked_convolution", "depthwise.convolution+PRelu", between_depthwise},
};
// clang-format on

}  // namespace

std::span<const Example> pattern_examples() {
  static const auto all = [] {
    std::vector<Example> list(std::begin(kExamples), std::end(kExamples));
    const auto more = transformer_examples();
    list.insert(list.end(), more.begin(), more.end());
    return list;
  }();
  return all;
}
std::span<const Example> blocked_examples() { return kBlocked; }

}  // namespace ovir::testing
