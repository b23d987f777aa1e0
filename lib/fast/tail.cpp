#include "fast/tail.hpp"

#include <algorithm>

#include "op/kit/elementwise_attrs.hpp"

namespace ovir::fast {
namespace {

/// A constant of one number a channel, as a bias is added to an output of rank `rank`.
const Tensor* bias_of(const Graphlet& graph, ValueRef v, i64 rank, i64 axis, i64 channels) {
  const auto* t = graph.constant(v);
  if (!t || t->type() != ElementType::f32 || t->rank() > rank || t->size() != channels) return nullptr;
  const auto at = axis - (rank - t->rank());
  return at >= 0 && t->dim(at) == channels ? t : nullptr;
}

}  // namespace

void Tail::apply(i64 channel, const float* x, float* y, i64 n) const {
  const float b = bias.empty() ? 0.0F : bias[static_cast<std::size_t>(channel)];
  for (i64 i = 0; i < n; ++i) y[i] = bounded(x[i] + b);
}

void Tail::apply_row(float* y, i64 channels) const {
  if (bias.empty()) {
    for (i64 i = 0; i < channels; ++i) y[i] = bounded(y[i]);
    return;
  }
  for (i64 i = 0; i < channels; ++i) y[i] = bounded(y[i] + bias[static_cast<std::size_t>(i)]);
}

Tail take_tail(const Graphlet& graph, std::vector<int>& nodes, i64 rank, i64 axis, i64 channels) {
  Tail tail;
  const auto next = [&] { return graph.only_user({nodes.back(), 0}); };
  if (const auto add = next(); graph.type(add) == "Add" && graph.fact({add, 0}).shape.rank() == rank) {
    const int other = graph.input(add, 0).node == nodes.back() ? 1 : 0;
    const auto& attrs = graph.attrs<BroadcastAttrs>(add);
    const auto* bias = attrs.rule().kind == AutoBroadcast::numpy
                           ? bias_of(graph, graph.input(add, other), rank, axis, channels)
                           : nullptr;
    if (bias) {
      tail.bias.assign(bias->data<float>(), bias->data<float>() + channels);
      tail.name += "+bias";
      nodes.push_back(add);
    }
  }
  const auto activation = next();
  if (graph.type(activation) == "Relu") {
    tail.low = 0;
    tail.name += "+relu";
    nodes.push_back(activation);
  } else if (graph.type(activation) == "Clamp") {
    const auto& attrs = graph.attrs<ClampAttrs>(activation);
    tail.low = static_cast<float>(attrs.min);
    tail.high = static_cast<float>(attrs.max);
    tail.name += "+clamp";
    nodes.push_back(activation);
  }
  return tail;
}

std::optional<Match> match_convolution(const Graphlet& graph, int root, i64 max_rank, Tail& tail) {
  const auto data = graph.input(root, 0), filters = graph.input(root, 1);
  const auto& shape = graph.fact(data).shape;
  const auto& out = graph.fact({root, 0}).shape;
  if (graph.stored(data) != ElementType::f32 || graph.stored(filters) != ElementType::f32 || !shape.has_rank() ||
      shape.rank() < 3 || shape.rank() > max_rank)
    return std::nullopt;
  Match match{{root}, {data, filters}, nullptr};
  if (out.has_rank() && out[1].is_static()) tail = take_tail(graph, match.nodes, out.rank(), 1, out[1].length());
  return match;
}

}  // namespace ovir::fast
