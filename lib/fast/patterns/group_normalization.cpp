// GroupNormalization-12 in f32, of values in f32 or bf16, and the activation behind it; also as models spell it out:
// a Reshape to [batch, groups, …], MVN-6 over all axes but these, a Reshape back, factors and offsets by channel.
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

std::optional<Match> match(const Graphlet& graph, int root) {
  return graph.type(root) == "MVN" ? match_spelled_out(graph, root) : match_operation(graph, root);
}

constexpr std::string_view kRoots[] = {"GroupNormalization", "MVN"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "group_normalization", .roots = kRoots, .match = match, .priority = Priority::packed};

}  // namespace ovir::fast::patterns::group_normalization
