#include "fast/kit/axis_part.hpp"

#include <algorithm>

#include "fast/kit/functions.hpp"

namespace ovir::fast {
namespace {

/// The only number of a constant of i32 or i64.
std::optional<i64> one_number(const Graphlet& graph, ValueRef v) {
  const auto* t = graph.constant(v);
  if (!t || t->size() != 1 || (t->type() != ElementType::i32 && t->type() != ElementType::i64)) return std::nullopt;
  return to_i64(*t)[0];
}

/// An axis of static length, counted from the front.
std::optional<i64> static_axis(const PartialShape& shape, i64 axis) {
  if (!shape.has_rank()) return std::nullopt;
  if (axis < 0) axis += shape.rank();
  return axis >= 0 && axis < shape.rank() && shape[axis].is_static() ? std::optional(axis) : std::nullopt;
}

std::optional<AxisPart> part_of_split(const Graphlet& graph, ValueRef v) {
  const auto along = one_number(graph, graph.input(v.node, 1));
  const auto axis = along ? static_axis(graph.fact(v).shape, *along) : std::nullopt;
  if (!axis) return std::nullopt;
  AxisPart part{*axis, 0, graph.fact(v).shape[*axis].length()};
  for (int port = 0; port < v.port; ++port) {
    const auto& before = graph.fact({v.node, port}).shape;
    if (!static_axis(before, *axis)) return std::nullopt;
    part.first += before[*axis].length();
  }
  return part;
}

std::optional<AxisPart> part_of_gather(const Graphlet& graph, int node) {
  const auto indices = graph.input(node, 1);
  const auto index = one_number(graph, indices), along = one_number(graph, graph.input(node, 2));
  const auto& shape = graph.fact(graph.input(node, 0)).shape;
  const auto axis = along ? static_axis(shape, *along) : std::nullopt;
  const bool counts_back = graph.node(node).version->since >= 8;
  if (!index || !axis || graph.constant(indices)->rank() != 0 || (*index < 0 && !counts_back)) return std::nullopt;
  const auto length = shape[*axis].length(), place = *index < 0 ? *index + length : *index;
  return place >= 0 && place < length ? std::optional(AxisPart{*axis, place, 1}) : std::nullopt;
}

}  // namespace

std::optional<AxisPart> part_of_slice(const Graphlet& graph, int node) {
  const auto &shape = graph.fact(graph.input(node, 0)).shape, &out = graph.fact({node, 0}).shape;
  const auto start = one_number(graph, graph.input(node, 1)), step = one_number(graph, graph.input(node, 3));
  auto along = std::optional<i64>(0);
  if (const auto axes = graph.input(node, 4); axes.node >= 0) along = one_number(graph, axes);
  const auto axis = along ? static_axis(shape, *along) : std::nullopt;
  if (!start || step != 1 || !axis || !static_axis(out, *axis) || out[*axis].length() == 0) return std::nullopt;
  const auto length = shape[*axis].length();
  const auto first = std::clamp<i64>(*start < 0 ? *start + length : *start, 0, length);
  return AxisPart{*axis, first, out[*axis].length()};
}

std::optional<AxisPart> part_of(const Graphlet& graph, ValueRef v) {
  const auto type = graph.type(v.node);
  if (type == "Split" || type == "VariadicSplit") return part_of_split(graph, v);
  if (type == "Slice") return part_of_slice(graph, v.node);
  return type == "Gather" ? part_of_gather(graph, v.node) : std::nullopt;
}

}  // namespace ovir::fast
