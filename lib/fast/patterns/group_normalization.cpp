// GroupNormalization-12 in f32, of values in f32 or bf16, and the activation behind it; also as models spell it out:
// a Reshape to [batch, groups, …], MVN-6 over all axes but these, a Reshape back, factors and offsets by channel; or,
// where channels come last, a Reshape to […, groups, channels of a group], TensorFlow's normalization by moments, a
// Reshape back, and the Transposes between which others have it.
#include <algorithm>
#include <numeric>

#include "fast/kernels/normalization/blocked.hpp"
#include "fast/kit/group_normalization.hpp"
#include "op/kit/group_normalization_attrs.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast::patterns::group_normalization {
namespace {

std::optional<Match> match_operation(const Graphlet& graph, int root) {
  const auto x = graph.input(root, 0), scale = graph.input(root, 1), bias = graph.input(root, 2);
  if (!is_f32(graph, x) || !is_f32(graph, scale) || !is_f32(graph, bias)) return std::nullopt;
  Match match{{root}, {x, scale, bias}, nullptr};
  const auto& attrs = graph.attrs<GroupNormalizationAttrs>(root);
  GroupNormalizationForm form("group_normalization", attrs.num_groups, attrs.epsilon, graph.fact(x).shape);
  form.take_activation(graph, match);
  match.kernel = make_group_normalization(std::move(form));
  return match;
}

/// From the MVN on, back to the Reshape and on to what follows the other one.
std::optional<Match> match_spelled_out(const Graphlet& graph, int root) {
  const auto grouped = graph.input(root, 0);
  const auto& attrs = graph.attrs<MvnAttrs>(root);
  if (graph.type(grouped.node) != "Reshape" || graph.only_user(grouped) != root || !is_over_planes(graph, root))
    return std::nullopt;
  const auto x = graph.input(grouped.node, 0);
  const auto &shape = graph.fact(x).shape, &groups = graph.fact(grouped).shape;
  if (!is_f32(graph, x) || !shape.has_rank() || shape.rank() < 3 || !shape[1].is_static() || !groups.has_rank() ||
      !groups[1].is_static() || !is_same(shape[0], groups[0]))
    return std::nullopt;
  const auto channels = shape[1].length(), count = groups[1].length();
  if (count == 0 || channels == 0 || channels % count != 0) return std::nullopt;
  Match match{{grouped.node, root}, {x}, nullptr};
  // There is none back where groups are channels, and one that joins the axes of planes as well.
  const auto back = graph.only_user({root, 0});
  if (graph.type(back) == "Reshape" && graph.input(back, 0).node == root) match.nodes.push_back(back);
  const auto& out = graph.fact({match.nodes.back(), 0}).shape;
  if (!out.has_rank() || out.rank() < 3 || !is_same(shape[0], out[0]) || !is_same(shape[1], out[1]))
    return std::nullopt;
  for (const auto node : match.nodes)
    if (node != root) add_computed_inputs(graph, node, 1, match);
  GroupNormalizationForm form("group_normalization", count, attrs.eps, shape);
  form.blocked = form.blocked && out.rank() <= 5;
  form.take_factors(graph, match, out.rank(), channels);
  form.take_activation(graph, match);
  match.kernel = make_group_normalization(std::move(form));
  return match;
}

/// Whether a Transpose brings channels from the second place to the end, or back.
bool moves_channels(const Graphlet& graph, int node, bool to_end) {
  const auto& shape = graph.fact(graph.input(node, 0)).shape;
  if (graph.type(node) != "Transpose" || !shape.has_rank()) return false;
  std::vector<i64> order(static_cast<std::size_t>(shape.rank()));
  std::iota(order.begin(), order.end(), 0);
  if (to_end) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  else std::rotate(order.begin() + 1, order.end() - 1, order.end());
  return constant_axes(graph, graph.input(node, 1), shape.rank()) == order;
}

/// The channels that are the last axis of `shape`, where `grouped` only tells groups apart in it; 0 where it does not.
i64 grouped_channels(const PartialShape& shape, const PartialShape& grouped) {
  if (!shape.is_static() || !grouped.is_static() || shape.rank() < 3 || grouped.rank() != shape.rank() + 1) return 0;
  const auto rank = shape.rank(), last = rank - 1;
  for (i64 i = 0; i < last; ++i)
    if (shape[i].length() != grouped[i].length()) return 0;
  const auto channels = shape[last].length(), groups = grouped[last].length();
  return groups > 0 && channels % groups == 0 && channels / groups == grouped[rank].length() ? channels : 0;
}

/// From the mean on, back to the Reshape and on to what follows the other one.
std::optional<Match> match_moments(const Graphlet& graph, int root) {
  auto found = normalization_by_moments(graph, root);
  if (!found || graph.type(found->x.node) != "Reshape") return std::nullopt;
  const auto readers = graph.users(found->x);
  const bool alone = std::ranges::all_of(readers, [&](int user) { return std::ranges::count(found->nodes, user) > 0; });
  auto x = graph.input(found->x.node, 0);
  const auto &shape = graph.fact(x).shape, &grouped = graph.fact(found->x).shape;
  const auto channels = grouped_channels(shape, grouped);
  if (!alone || channels == 0) return std::nullopt;
  const auto rank = shape.rank(), groups = grouped[rank - 1].length();
  std::vector<i64> all(static_cast<std::size_t>(rank - 1));  // but those of batch and groups
  std::iota(all.begin(), all.end(), 1);
  all.back() = rank;
  const auto back = graph.only_user({found->nodes.back(), 0});
  if (found->axes != all || graph.type(back) != "Reshape" || !is_same(graph.fact({back, 0}).shape, shape))
    return std::nullopt;
  GroupNormalizationForm form("group_normalization", groups, found->epsilon, shape);
  form.blocked = can_normalize_blocked(channels, groups);
  // [groups, channels of a group] lie as [channels].
  if (!form.blocked || !form.set_factors(graph, *found, rank + 1, channels, rank - 1, 2)) return std::nullopt;
  Match match{{}, {x}, nullptr};
  form.reads_rows = !(moves_channels(graph, x.node, true) && graph.only_user(x) == found->x.node);
  if (!form.reads_rows) {
    match.nodes = {x.node};
    match.inputs = {graph.input(x.node, 0)};
  }
  match.nodes.push_back(found->x.node);
  match.nodes.insert(match.nodes.end(), found->nodes.begin(), found->nodes.end());
  match.nodes.push_back(back);
  form.take_activation(graph, match);
  const auto after = graph.only_user({match.nodes.back(), 0});
  form.writes_rows = !moves_channels(graph, after, false);
  if (!form.writes_rows) {
    match.nodes.push_back(after);
    if (form.activation.f == Function::identity) form.take_activation(graph, match);
  }
  match.kernel = make_group_normalization(std::move(form));
  return match;
}

std::optional<Match> match(const Graphlet& graph, int root) {
  if (graph.type(root) == "ReduceMean") return match_moments(graph, root);
  return graph.type(root) == "MVN" ? match_spelled_out(graph, root) : match_operation(graph, root);
}

constexpr std::string_view kRoots[] = {"GroupNormalization", "MVN", "ReduceMean"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "group_normalization", .roots = kRoots, .match = match, .priority = Priority::packed};

}  // namespace ovir::fast::patterns::group_normalization
