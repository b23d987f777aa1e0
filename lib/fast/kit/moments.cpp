#include "fast/kit/moments.hpp"

#include <algorithm>

#include "fast/kit/broadcasting.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/spelled_out.hpp"
#include "op/kit/elementwise_attrs.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast {
namespace {

/// The axes of a ReduceMean that keeps them, in order; empty where the node is none.
std::vector<i64> axes_of_mean(const Graphlet& graph, int node, i64 rank) {
  if (graph.type(node) != "ReduceMean" || !graph.attrs<ReduceAttrs>(node).keep_dims) return {};
  auto axes = constant_axes(graph, graph.input(node, 1), rank).value_or(std::vector<i64>{});
  std::sort(axes.begin(), axes.end());
  return axes;
}

/// The two nodes that read a value, the one that is of this type first.
std::optional<std::pair<int, int>> two_users(const Graphlet& graph, int node, std::string_view first) {
  const auto users = graph.users({node, 0});
  if (users.size() != 2 || users[0] == users[1]) return std::nullopt;
  if (graph.type(users[0]) == first) return std::pair(users[0], users[1]);
  if (graph.type(users[1]) == first) return std::pair(users[1], users[0]);
  return std::nullopt;
}

ValueRef other_input(const Graphlet& graph, int node, int than) {
  return graph.input(node, graph.input(node, 0).node == than ? 1 : 0);
}

/// Whether all nodes give f32, and those that broadcast do so as NumPy does.
bool are_plain(const Graphlet& graph, const std::vector<int>& nodes) {
  return std::ranges::all_of(nodes, [&](int node) {
    const auto type = graph.type(node);
    const bool broadcasts = type == "Multiply" || type == "Add" || type == "Subtract" || type == "SquaredDifference";
    return is_f32(graph, {node, 0}) && (!broadcasts || aligns_by_numpy(graph, node));
  });
}

bool is_square_of(const Graphlet& graph, int node, ValueRef x) {
  const auto of = squared_by(graph, node);
  return of && same(*of, x);
}

}  // namespace

std::optional<MomentsNormalization> normalization_by_moments(const Graphlet& graph, int mean) {
  MomentsNormalization found{.nodes = {mean}, .x = graph.input(mean, 0), .axes = {}, .epsilon = 0};
  const auto x = found.x;
  const auto& shape = graph.fact(x).shape;
  if (!is_f32(graph, x) || !shape.has_rank()) return std::nullopt;
  found.axes = axes_of_mean(graph, mean, shape.rank());
  const auto users = two_users(graph, mean, "SquaredDifference");
  if (found.axes.empty() || !users || !same(other_input(graph, users->first, mean), x)) return std::nullopt;
  const auto variance = followed_by(graph, users->first, "ReduceMean");
  if (!variance || axes_of_mean(graph, variance->first, shape.rank()) != found.axes) return std::nullopt;
  const auto add = followed_by(graph, variance->first, "Add");
  const auto epsilon = add ? number(graph, graph.input(add->first, 1 - add->second)) : std::nullopt;
  if (!epsilon || !(*epsilon >= 0)) return std::nullopt;
  found.epsilon = *epsilon;
  const auto inverse = inverse_root_after(graph, add->first);
  if (!inverse || inverse->divides) return std::nullopt;
  auto& nodes = found.nodes;
  nodes.insert(nodes.end(), {users->first, variance->first, add->first});
  nodes.insert(nodes.end(), inverse->nodes.begin(), inverse->nodes.end());
  if (const auto factor = followed_by(graph, nodes.back(), "Multiply")) {
    found.factor = graph.input(factor->first, 1 - factor->second);
    if (!graph.constant(found.factor)) return std::nullopt;
    nodes.push_back(factor->first);
  }
  // What both terms are multiplied by.
  const auto factor = nodes.back();
  const auto multiplied = two_users(graph, factor, "Multiply");
  if (!multiplied || graph.type(multiplied->second) != "Multiply") return std::nullopt;
  auto [scaled, shift] = *multiplied;
  if (!same(other_input(graph, scaled, factor), x)) std::swap(scaled, shift);
  if (!same(other_input(graph, scaled, factor), x)) return std::nullopt;
  // The mean by it: first made negative, or taken from the offset.
  const auto shifted = other_input(graph, shift, factor);
  const bool negative = shifted.node == users->second && graph.type(shifted.node) == "Multiply" &&
                        number(graph, other_input(graph, shifted.node, mean)) == -1.0F &&
                        graph.only_user(shifted) == shift;
  if (negative) nodes.push_back(shifted.node);
  else if (shift != users->second || shifted.node != mean) return std::nullopt;
  nodes.push_back(shift);
  if (!negative) {
    const auto offset = followed_by(graph, shift, "Subtract");
    if (!offset || offset->second != 1) return std::nullopt;
    found.offset = graph.input(shift = offset->first, 0);
    nodes.push_back(shift);
  } else if (const auto offset = followed_by(graph, shift, "Add")) {
    const auto other = graph.input(offset->first, 1 - offset->second);
    if (graph.constant(other)) nodes.push_back(shift = offset->first), found.offset = other;
  }
  if (found.offset.node >= 0 && !graph.constant(found.offset)) return std::nullopt;
  const auto sum = graph.only_user({shift, 0});
  if (graph.type(sum) != "Add" || graph.only_user({scaled, 0}) != sum) return std::nullopt;
  nodes.insert(nodes.end(), {scaled, sum});
  if (!are_plain(graph, nodes)) return std::nullopt;
  return is_same(graph.fact({sum, 0}).shape, shape) ? std::optional(std::move(found)) : std::nullopt;
}

std::optional<MomentsNormalization> normalization_by_squares(const Graphlet& graph, int sum) {
  const auto x = graph.input(sum, 0);
  const auto& shape = graph.fact(x).shape;
  auto mean = is_f32(graph, x) && shape.is_static() ? mean_from(graph, sum) : std::nullopt;
  if (!mean) return std::nullopt;
  auto kept = shape;
  for (const auto axis : mean->axes) kept[axis] = Dim(1);
  MomentsNormalization found{.nodes = mean->nodes, .x = x, .axes = mean->axes, .epsilon = 0};
  auto& nodes = found.nodes;
  const auto take = [&](const std::vector<int>& those) { nodes.insert(nodes.end(), those.begin(), those.end()); };

  // The mean is taken from x, and its square from the mean of squares.
  const ValueRef of_x{mean->nodes.back(), 0};
  const auto users = graph.users(of_x);
  if (users.size() != 2) return std::nullopt;
  const auto at = is_square_of(graph, users[0], of_x) ? 0 : 1;
  const auto square = users[at];
  auto centered = users[1 - at];
  if (!is_square_of(graph, square, of_x)) return std::nullopt;
  auto taken = of_x;
  if (graph.type(centered) != "Subtract") {
    if (!is_same(graph.fact({centered, 0}).shape, kept)) return std::nullopt;
    nodes.push_back(centered);
    taken = {centered, 0};
    centered = graph.only_user(taken);
  }
  if (graph.type(centered) != "Subtract" || !same(graph.input(centered, 0), x) ||
      !same(graph.input(centered, 1), taken) || !is_same(graph.fact(taken).shape, kept))
    return std::nullopt;
  const auto difference = followed_by(graph, square, "Subtract");
  if (!difference || difference->second != 1) return std::nullopt;
  const auto readers = graph.users(x);
  const auto squared = std::ranges::find_if(readers, [&](int user) { return is_square_of(graph, user, x); });
  if (squared == readers.end()) return std::nullopt;
  const auto of_squares = mean_from(graph, graph.only_user({*squared, 0}));
  if (!of_squares || of_squares->axes != mean->axes ||
      !same(graph.input(difference->first, 0), {of_squares->nodes.back(), 0}) ||
      graph.only_user({of_squares->nodes.back(), 0}) != difference->first)
    return std::nullopt;
  take({square, centered, *squared});
  take(of_squares->nodes);
  nodes.push_back(difference->first);
  auto last = difference->first;
  if (const auto least = followed_by(graph, last, "Maximum")) {
    if (number(graph, graph.input(least->first, 1 - least->second)) != 0.0F) return std::nullopt;
    nodes.push_back(last = least->first);
  }
  if (const auto laid = laid_as(graph, last, kept); !laid) return std::nullopt;
  else if (!laid->empty()) nodes.push_back(last = laid->front());

  const auto add = followed_by(graph, last, "Add");
  const auto epsilon = add ? number(graph, graph.input(add->first, 1 - add->second)) : std::nullopt;
  const auto inverse = add ? inverse_root_after(graph, add->first) : std::nullopt;
  if (!epsilon || !(*epsilon >= 0) || !inverse || inverse->divides) return std::nullopt;
  found.epsilon = *epsilon;
  nodes.push_back(add->first);
  take(inverse->nodes);
  last = nodes.back();
  auto product = followed_by(graph, last, "Multiply");
  if (const auto factor = product ? graph.input(product->first, 1 - product->second) : ValueRef{};
      product && graph.constant(factor)) {
    found.factor = factor;
    nodes.push_back(last = product->first);
    product = followed_by(graph, last, "Multiply");
  }
  if (!product || !same(graph.input(product->first, 1 - product->second), {centered, 0}) ||
      graph.only_user({centered, 0}) != product->first)
    return std::nullopt;
  nodes.push_back(last = product->first);
  if (const auto offset = followed_by(graph, last, "Add")) {
    const auto other = graph.input(offset->first, 1 - offset->second);
    if (graph.constant(other)) nodes.push_back(last = offset->first), found.offset = other;
  }
  std::ranges::sort(nodes);
  return are_plain(graph, nodes) && is_same(graph.fact({last, 0}).shape, shape) ? std::optional(std::move(found))
                                                                                : std::nullopt;
}

}  // namespace ovir::fast
