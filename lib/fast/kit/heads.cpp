#include "fast/kit/heads.hpp"

#include <algorithm>

#include "fast/kit/functions.hpp"

namespace ovir::fast {
namespace {

/// Whether columns lie side by side where they must, or rows.
bool are_inside(const HeadAxes& a, bool columns) {
  const auto last = a.rank - 1;
  return a.axes[3] == last || (!columns && a.axes[2] == last);
}

/// An operand as a part of what a Split reads.
struct PartOfSplit {
  int split;
  std::vector<int> nodes;  ///< from the operand back to the Split and a Transpose before it
  HeadOperand operand;
};

/// Whether `narrow` has the axes of `wide` but the one at `axis`, which is 1.
bool is_squeezed(const PartialShape& wide, const PartialShape& narrow, i64 axis) {
  if (!wide[axis].is_static() || wide[axis].length() != 1) return false;
  for (i64 i = 0; i < narrow.rank(); ++i) {
    const auto &a = narrow[i], &b = wide[i + (i >= axis)];
    if (a.is_static() && b.is_static() ? a.length() != b.length() : a.symbol == 0 || a.symbol != b.symbol) return false;
  }
  return true;
}

std::optional<PartOfSplit> part_of_split(const Graphlet& graph, const HeadOperand& operand) {
  auto v = operand.value;
  if (v.node < 0 || graph.only_user(v) != operand.user || operand.axes.rank != 4) return std::nullopt;
  PartOfSplit part{-1, {}, operand};
  const auto& narrow = graph.fact(v).shape;
  if (const auto type = graph.type(v.node); type == "Squeeze" || type == "Reshape") {
    part.nodes.push_back(v.node);
    v = graph.input(v.node, 0);
    if (v.node < 0 || graph.only_user(v) != part.nodes.back()) return std::nullopt;
  }
  const bool squeezed = !part.nodes.empty();
  if (const auto type = graph.type(v.node); type != "Split" && type != "VariadicSplit") return std::nullopt;
  part.split = v.node;
  part.nodes.push_back(v.node);
  const i64 rank = squeezed ? 5 : 4;
  const auto axis = constant_axes(graph, graph.input(v.node, 1), rank);
  const auto& shape = graph.fact(v).shape;
  if (!axis || axis->size() != 1 || !shape.has_rank() || shape.rank() != rank || !narrow.has_rank() ||
      narrow.rank() != 4 || !shape[axis->front()].is_static() ||
      (squeezed && !is_squeezed(shape, narrow, axis->front())))
    return std::nullopt;
  auto& to = part.operand.axes;
  to.rank = rank;
  to.part_axis = axis->front();
  to.length = shape[to.part_axis].length();
  for (int port = 0; port < v.port; ++port) {
    const auto& before = graph.fact({v.node, port}).shape;
    if (!before.has_rank() || !before[to.part_axis].is_static()) return std::nullopt;
    to.first += before[to.part_axis].length();
  }
  if (squeezed)
    for (auto& a : to.axes) a += a >= to.part_axis;
  auto& source = part.operand.value = graph.input(v.node, 0);
  if (graph.type(source.node) == "Transpose" && graph.only_user(source) == v.node)
    if (const auto order = constant_axes(graph, graph.input(source.node, 1), rank)) {
      for (auto& a : to.axes) a = (*order)[a];
      to.part_axis = (*order)[to.part_axis];
      part.nodes.push_back(source.node);
      source = graph.input(source.node, 0);
    }
  if (!is_f32(graph, source) || !are_inside(to, operand.columns_inside)) return std::nullopt;
  return part;
}

}  // namespace

i64 HeadAxes::dim(const View& v, i64 axis) const {
  if (axis == part_axis) return length;
  const auto more = v.rank() - rank;
  if (axis > 0) return axis + more < 0 ? 1 : v.dim(axis + more);
  i64 all = 1;
  for (i64 i = 0; i <= more; ++i) all *= v.dim(i);
  return all;
}

bool HeadAxes::fits(const View& v) const {
  if (part_axis >= 0) return v.rank() == rank && first + length <= v.dim(part_axis);
  return v.rank() == rank || v.rank() == rank - 1 || (v.rank() > rank && axes[0] == 0);
}

std::optional<std::array<i64, 4>> order_of(const Graphlet& graph, int node) {
  if (graph.type(node) != "Transpose") return std::nullopt;
  const auto axes = constant_axes(graph, graph.input(node, 1), 4);
  if (!axes || axes->size() != 4) return std::nullopt;
  return std::array{(*axes)[0], (*axes)[1], (*axes)[2], (*axes)[3]};
}

void take_transpose(const Graphlet& graph, HeadOperand& operand, std::vector<int>& nodes) {
  const auto v = operand.value;
  if (v.node < 0 || v.port != 0 || graph.only_user(v) != operand.user) return;
  const auto order = order_of(graph, v.node);
  if (!order || !are_inside({.axes = *order}, operand.columns_inside)) return;
  nodes.push_back(v.node);
  operand = {graph.input(v.node, 0), v.node, operand.columns_inside, {.axes = *order}};
}

void take_parts(const Graphlet& graph, std::array<HeadOperand, 3>& operands, std::vector<int>& nodes) {
  std::array<std::optional<PartOfSplit>, 3> parts;
  for (std::size_t i = 0; i < 3; ++i) parts[i] = part_of_split(graph, operands[i]);
  for (std::size_t i = 0; i < 3; ++i) {
    if (!parts[i]) continue;
    const auto split = parts[i]->split;
    const auto is_its = [&](const auto& part) { return part && part->split == split; };
    // Each of them reads another output.
    if (std::count_if(parts.begin(), parts.end(), is_its) != graph.node(split).output_count) continue;
    operands[i] = parts[i]->operand;
    for (const auto node : parts[i]->nodes)
      if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) nodes.push_back(node);
  }
}

}  // namespace ovir::fast
