#include "fast/kit/head_places.hpp"

#include "fast/kit/axis_part.hpp"
#include "fast/kit/functions.hpp"

namespace ovir::fast {
namespace {

constexpr int kMostNodes = 16;  // on the way to an operand

/// A value as elements of another one.
struct Seen {
  ValueRef source;
  Shape shape, strides;
  i64 offset = 0;
  std::vector<int> nodes{};
};

/// Strides of the same elements in another shape; nothing where they do not lie so that there are any.
std::optional<Shape> reshaped(const Shape& from, const Shape& strides, const Shape& to) {
  Shape result(to.size(), 0);
  auto i = from.rank();
  const auto next = [&] {
    while (--i >= 0 && from[i] == 1) {
    }
    return i >= 0;
  };
  i64 left = 1, step = 0;  // of the axes that have been begun, from the last one on
  for (auto j = to.rank(); j-- > 0;) {
    if (to[j] == 1) continue;
    if (left == 1) {
      if (!next()) return std::nullopt;
      left = from[i];
      step = strides[i];
    }
    while (left < to[j]) {
      if (!next() || strides[i] != step * left) return std::nullopt;
      left *= from[i];
    }
    if (left % to[j] != 0) return std::nullopt;
    result[j] = step;
    step *= to[j];
    left /= to[j];
  }
  return left == 1 && !next() ? std::optional(result) : std::nullopt;
}

/// v where it lies, or of what it is but seen otherwise.
Seen seen(const Graphlet& graph, ValueRef v, int most = kMostNodes) {
  const auto shape = graph.fact(v).shape.to_shape();
  Seen own{v, shape, shape};
  i64 stride = 1;
  for (auto i = shape.rank(); i-- > 0; stride *= shape[i]) own.strides[i] = stride;
  const auto node = v.node;
  const auto type = graph.type(node);
  const auto from = graph.input(node, 0);
  if (most == 0 || type.empty() || !is_f32(graph, from) || !graph.fact(from).shape.is_static()) return own;
  if (const auto order = order_of(graph, node, shape.rank()); !order.empty()) {
    auto s = seen(graph, from, most - 1);
    const auto strides = s.strides;
    for (i64 i = 0; i < shape.rank(); ++i) s.strides[i] = strides[order[i]];
    s.shape = shape;
    s.nodes.push_back(node);
    return s;
  }
  if (type == "Reshape" || type == "Squeeze" || type == "Unsqueeze") {
    auto s = seen(graph, from, most - 1);
    auto strides = reshaped(s.shape, s.strides, shape);
    if (!strides) return own;
    s.shape = shape;
    s.strides = std::move(*strides);
    s.nodes.push_back(node);
    return s;
  }
  if (const auto part = part_of(graph, v)) {
    auto s = seen(graph, from, most - 1);
    s.offset += part->first * s.strides[part->axis];
    if (type == "Gather") s.strides.erase(s.strides.begin() + part->axis);
    s.shape = shape;
    s.nodes.push_back(node);
    return s;
  }
  return own;
}

/// Whether a value can be read otherwise: one of four known axes, of which nothing is taken yet.
bool is_whole(const Graphlet& graph, const HeadOperand& o) {
  const auto& shape = graph.fact(o.value).shape;
  return o.axes.rank == 4 && o.axes.part_axis < 0 && !o.apart && is_f32(graph, o.value) && shape.is_static() &&
         shape.rank() == 4 && shape.to_shape().count() > 0;
}

}  // namespace

void take_places(const Graphlet& graph, std::array<HeadOperand, 3>& operands, HeadWay& way) {
  if (!std::all_of(operands.begin(), operands.end(), [&](const auto& o) { return is_whole(graph, o); })) return;
  std::array<Seen, 3> all;
  auto taken = way;
  for (std::size_t i = 0; i < 3; ++i) {
    all[i] = seen(graph, operands[i].value);
    const auto& axes = operands[i].axes.axes;
    const bool inside = all[i].strides[axes[3]] == 1 || (!operands[i].columns_inside && all[i].strides[axes[2]] == 1);
    if (all[i].nodes.empty() || !inside) return;
    for (const auto node : all[i].nodes) taken.add(node);
  }
  // Where others read what a node gives, those before it stay for them.
  const auto is_own = [&](int node, const std::vector<int>& among) {
    for (int port = 0; port < graph.node(node).output_count; ++port)
      for (const auto user : graph.users({node, port}))
        if (!std::binary_search(among.begin(), among.end(), user)) return false;
    return true;
  };
  auto nodes = taken.sorted();
  for (const auto& s : all)
    for (const auto node : s.nodes)
      if (!is_own(node, nodes)) return;
  way = taken;
  for (std::size_t i = 0; i < 3; ++i) {
    auto& o = operands[i];
    HeadPlaces places{.offset = all[i].offset, .size = graph.fact(all[i].source).shape.to_shape().count()};
    for (std::size_t k = 0; k < 4; ++k) {
      places.lengths[k] = all[i].shape[o.axes.axes[k]];
      places.strides[k] = all[i].strides[o.axes.axes[k]];
    }
    o.value = all[i].source;
    o.axes.places = places;
  }
}

}  // namespace ovir::fast
