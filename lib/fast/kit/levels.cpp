#include "fast/kit/levels.hpp"

#include <algorithm>
#include <cmath>

#include "fast/kit/decompression.hpp"
#include "op/kit/elementwise_attrs.hpp"

namespace ovir::fast {
namespace {

/// A Constant of the file, also where conversions follow, as f32.
Tensor from_file(const Graphlet& graph, ValueRef v) {
  while (graph.any_type(v.node) == "Convert") v = graph.input(v.node, 0);
  if (v.node < 0 || graph.node(v.node).op->kind != Kind::constant || !graph.node(v.node).constant) return {};
  return convert(graph.node(v.node).constant, ElementType::f32);
}

/// One number an output, or one for all, as so many.
std::vector<float> by_output(const Tensor& t, i64 outputs) {
  std::vector<float> list;
  if (!t || (t.size() != 1 && t.size() != outputs)) return list;
  for (i64 i = 0; i < outputs; ++i) list.push_back(t.data<float>()[t.size() == 1 ? 0 : i]);
  return list;
}

/// One number, or one for each of the `outputs` that the first axes of the codes count.
bool belongs_to_outputs(const Graphlet& graph, ValueRef v, const Shape& codes, i64 outputs) {
  const auto& fact = graph.fact(v).shape;
  if (!fact.is_static()) return false;
  const auto shape = fact.to_shape();
  if (shape.count() == 1) return true;
  if (shape.rank() != codes.rank() || shape.count() != outputs) return false;
  std::size_t axis = 0;
  while (axis < shape.size() && shape[axis] == codes[axis]) ++axis;
  return std::all_of(shape.begin() + axis, shape.end(), [](i64 n) { return n == 1; });
}

/// The steps that weights may be multiples of; empty where nothing says.
std::vector<float> steps_of(const Graphlet& graph, ValueRef v, i64 outputs) {
  while (v.node >= 0) {
    const auto type = graph.any_type(v.node);
    if (type == "FakeQuantize") {
      const auto low = by_output(from_file(graph, graph.input(v.node, 3)), outputs),
                 high = by_output(from_file(graph, graph.input(v.node, 4)), outputs);
      const auto intervals = static_cast<float>(graph.attrs<FakeQuantizeAttrs>(v.node).levels - 1);
      std::vector<float> steps;
      for (std::size_t i = 0; i < low.size() && i < high.size(); ++i) steps.push_back((high[i] - low[i]) / intervals);
      return steps;
    }
    if (type == "Multiply") {
      for (const int port : {1, 0})
        if (auto steps = by_output(from_file(graph, graph.input(v.node, port)), outputs); !steps.empty()) return steps;
      return {};
    }
    if (type != "Convert" && type != "Reshape") return {};
    v = graph.input(v.node, 0);
  }
  return {};
}

}  // namespace

std::optional<std::uint8_t> Levels::zero() const {
  std::optional<float> found;
  for (std::size_t i = 0; i < quantization->low.size(); ++i) {
    const auto level = -quantization->low[i] / quantization->scale[i], whole = std::nearbyint(level);
    if (std::abs(level - whole) > 0.01f || whole < 0 || whole > max_level || (found && *found != whole))
      return std::nullopt;
    found = whole;
  }
  return static_cast<std::uint8_t>(found.value_or(0));
}

std::optional<Levels> levels_of(const Graphlet& graph, ValueRef v) {
  while (v.port == 0 && graph.any_type(v.node) == "MaxPool") v = graph.input(v.node, 0);
  if (graph.any_type(v.node) != "FakeQuantize") return std::nullopt;
  const auto& attrs = graph.attrs<FakeQuantizeAttrs>(v.node);
  const auto& shape = graph.fact(v).shape;
  if (attrs.levels < 2 || attrs.levels > 256 || attrs.rule().kind == AutoBroadcast::pdpd || !shape.is_static())
    return std::nullopt;
  const Tensor* limits[4];
  i64 count = 1;
  for (int i = 0; i < 4; ++i) {
    const auto* t = limits[i] = graph.constant(graph.input(v.node, i + 1));
    if (!t || t->type() != ElementType::f32 || t->size() == 0) return std::nullopt;
    if (t->size() == 1) continue;
    // By channel, the second axis.
    if (shape.rank() < 2 || t->size() != shape[1].length() || t->rank() > shape.rank() ||
        t->rank() + 1 < shape.rank() || t->dim(t->rank() - shape.rank() + 1) != t->size())
      return std::nullopt;
    count = t->size();
  }
  Levels levels{nullptr, static_cast<float>(attrs.levels - 1)};
  auto quantization = std::make_shared<ovir::Quantization>();
  for (i64 c = 0; c < count; ++c) {
    const auto limit = [&](int i) { return limits[i]->data<float>()[limits[i]->size() == 1 ? 0 : c]; };
    const auto scale = (limit(1) - limit(0)) / levels.max_level;
    if (limit(0) != limit(2) || limit(1) != limit(3) || !(scale > 0) || !std::isfinite(1 / scale)) return std::nullopt;
    quantization->low.push_back(limit(0));
    quantization->scale.push_back(scale);
  }
  levels.quantization = std::move(quantization);
  return levels;
}

U8Table::U8Table(const Levels& levels, i64 channels)
    : padded_(round_up(channels, 4 * kBlock)), max_level_(levels.max_level), values_(4 * padded_) {
  for (i64 c = 0; c < channels; ++c) {
    const auto low = levels.low(c), scale = levels.scale(c);
    const float list[] = {1 / scale, -low / scale, low, scale};
    for (i64 k = 0; k < 4; ++k) values_.data()[k * padded_ + c] = list[k];
  }
}

U8Scale U8Table::scale() const {
  const auto* v = values_.data();
  return {.by = v, .plus = v + padded_, .low = v + 2 * padded_, .scale = v + 3 * padded_, .max_level = max_level_};
}

std::optional<I8Weights> stored_i8_weights(const Graphlet& graph, int node, int port, i64 outputs) {
  Chain chain(graph, graph.input(node, port), node);
  if (chain.is("Convert")) chain.take(0);
  if (chain.is("Reshape")) chain.take(0);
  if (chain.is("Convert")) chain.take(0);
  const auto scale = chain.take_scale();
  ValueRef zero;
  if (chain.is("Subtract")) zero = graph.input(chain.take(0), 1);
  if (scale.node < 0 || !chain.is("Convert")) return std::nullopt;
  chain.take(0);
  const auto* codes = graph.constant(chain.at());
  if (!codes || outputs == 0 || codes->size() % outputs != 0 || codes->size() == 0 ||
      (codes->type() != ElementType::i8 && codes->type() != ElementType::u8) ||
      !belongs_to_outputs(graph, scale, codes->shape(), outputs) ||
      (zero.node >= 0 && !belongs_to_outputs(graph, zero, codes->shape(), outputs)))
    return std::nullopt;
  I8Weights weights{*codes, by_output(from_file(graph, scale), outputs), chain.nodes()};
  const auto finite = [](float v) { return std::isfinite(v); };
  if (weights.scale.empty() || !std::all_of(weights.scale.begin(), weights.scale.end(), finite)) return std::nullopt;
  std::vector<float> zeros(outputs, 0.0f);
  if (zero.node >= 0) zeros = by_output(from_file(graph, zero), outputs);
  if (zeros.empty()) return std::nullopt;
  const bool as_they_are = std::all_of(zeros.begin(), zeros.end(), [](float z) { return z == 0; });
  if (as_they_are && codes->type() == ElementType::i8) return weights;
  Tensor values(ElementType::i8, codes->shape());
  auto* to = values.mutable_data<std::int8_t>();
  const auto each = codes->size() / outputs;
  for (i64 o = 0; o < outputs; ++o) {
    if (!(zeros[o] >= -128 && zeros[o] <= 255) || zeros[o] != std::nearbyint(zeros[o])) return std::nullopt;
    const auto by = static_cast<int>(zeros[o]);
    int low = 0, high = 0;
    const auto subtract = [&](const auto* from) {
      for (auto i = o * each; i < (o + 1) * each; ++i) {
        const int value = from[i] - by;
        low = std::min(low, value);
        high = std::max(high, value);
        to[i] = static_cast<std::int8_t>(value);
      }
    };
    if (codes->type() == ElementType::u8) subtract(codes->data<std::uint8_t>());
    else subtract(codes->data<std::int8_t>());
    if (low < -128 || high > 127) return std::nullopt;
  }
  weights.values = std::move(values);
  return weights;
}

std::optional<I8Weights> i8_weights(const Graphlet& graph, int node, int port, i64 outputs) {
  if (auto stored = stored_i8_weights(graph, node, port, outputs)) return stored;
  const auto v = graph.input(node, port);
  const auto* constant = graph.constant(v);
  if (!constant || constant->type() != ElementType::f32 || outputs == 0) return std::nullopt;
  I8Weights weights{Tensor(ElementType::i8, constant->shape()), steps_of(graph, v, outputs), {}};
  if (weights.scale.empty()) return std::nullopt;
  const auto each = constant->size() / outputs;
  const auto* from = constant->data<float>();
  auto* to = weights.values.mutable_data<std::int8_t>();
  for (i64 o = 0; o < outputs; ++o) {
    const auto step = weights.scale[o];
    for (auto i = o * each; i < (o + 1) * each; ++i) {
      const auto times = step == 0 ? 0 : from[i] / step, whole = std::clamp(std::nearbyint(times), -128.0f, 127.0f);
      if (!(std::abs(times - whole) <= 0.01f) || (step == 0 && from[i] != 0)) return std::nullopt;
      to[i] = static_cast<std::int8_t>(whole);
    }
  }
  return weights;
}

}  // namespace ovir::fast
