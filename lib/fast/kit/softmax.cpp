#include "fast/kit/softmax.hpp"

#include <algorithm>
#include <limits>

#include "fast/kit/broadcasting.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/spelled_out.hpp"
#include "op/kit/elementwise_attrs.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast {
namespace {

/// The nodes of a reduction and of what gives its result the axis back, as one of length 1, where it has not kept it;
/// empty where they do something else. A maximum with -inf changes nothing.
std::vector<int> kept_reduction(const Graphlet& graph, int reduction, const PartialShape& kept) {
  std::vector<int> nodes{reduction};
  if (const auto maximum = followed_by(graph, reduction, "Maximum")) {
    const auto [node, port] = *maximum;
    if (number(graph, graph.input(node, 1 - port)) != -std::numeric_limits<float>::infinity() ||
        !is_same(graph.fact({node, 0}).shape, graph.fact({reduction, 0}).shape))
      return {};
    nodes.push_back(node);
  }
  const auto laid = laid_as(graph, nodes.back(), kept);
  if (!laid) return {};
  nodes.insert(nodes.end(), laid->begin(), laid->end());
  return nodes;
}

/// The axis of a reduction of a value along one.
std::optional<i64> axis_of(const Graphlet& graph, int reduction, i64 rank) {
  const auto axes = constant_axes(graph, graph.input(reduction, 1), rank);
  return axes && axes->size() == 1 ? std::optional(axes->front()) : std::nullopt;
}

std::optional<SoftmaxNodes> spelled_out(const Graphlet& graph, int maximum) {
  const auto x = graph.input(maximum, 0);
  const auto& shape = graph.fact(x).shape;
  if (!is_f32(graph, x) || !shape.is_static()) return std::nullopt;
  const auto axis = axis_of(graph, maximum, shape.rank());
  if (!axis) return std::nullopt;
  auto kept = shape;
  kept[*axis] = Dim(1);
  SoftmaxNodes found{x, *axis, kept_reduction(graph, maximum, kept)};
  auto& nodes = found.nodes;
  const auto subtract = nodes.empty() ? std::nullopt : followed_by(graph, nodes.back(), "Subtract");
  if (!subtract || subtract->second != 1 || !same(graph.input(subtract->first, 0), x)) return std::nullopt;
  const auto exp = followed_by(graph, subtract->first, "Exp");
  if (!exp) return std::nullopt;
  const ValueRef powers{exp->first, 0};
  const auto users = graph.users(powers);
  const auto sum = std::ranges::find(users, "ReduceSum", [&](int user) { return graph.type(user); });
  if (users.size() != 2 || sum == users.end() || axis_of(graph, *sum, shape.rank()) != axis) return std::nullopt;
  const auto sums = kept_reduction(graph, *sum, kept);
  const auto divide = sums.empty() ? std::nullopt : followed_by(graph, sums.back(), "Divide");
  if (!divide || divide->second != 1 || !same(graph.input(divide->first, 0), powers) ||
      !aligns_by_numpy(graph, subtract->first) || !aligns_by_numpy(graph, divide->first) ||
      !is_f32(graph, {divide->first, 0}))
    return std::nullopt;
  nodes.insert(nodes.end(), {subtract->first, exp->first});
  nodes.insert(nodes.end(), sums.begin(), sums.end());
  nodes.push_back(divide->first);
  return found;
}

}  // namespace

std::optional<SoftmaxNodes> softmax_from(const Graphlet& graph, int root) {
  if (graph.type(root) == "ReduceMax") return spelled_out(graph, root);
  const auto x = graph.input(root, 0);
  if (!is_f32(graph, x) || !is_f32(graph, {root, 0})) return std::nullopt;
  return SoftmaxNodes{x, graph.attrs<SoftmaxAttrs>(root).axis, {root}};
}

}  // namespace ovir::fast
