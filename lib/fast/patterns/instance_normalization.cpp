// MVN-6 over all spatial axes, two at least, in f32 (InstanceNorm), with factors and offsets by channel, and the
// activation behind it, of blocked and of plain values.
#include "fast/kit/group_normalization.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast::patterns::instance_normalization {
namespace {

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto x = graph.input(root, 0);
  const auto& shape = graph.fact(x).shape;
  if (!is_f32(graph, x) || !shape.has_rank() || shape.rank() < 4 || !shape[1].is_static()) return std::nullopt;
  const auto channels = shape[1].length();
  if (channels == 0 || !is_over_planes(graph, root)) return std::nullopt;
  Match match{{root}, {x}, nullptr};
  GroupNormalizationForm form("instance_normalization", channels, graph.attrs<MvnAttrs>(root).eps, shape);
  form.take_factors(graph, match, shape.rank(), channels);
  form.take_activation(graph, match);
  match.kernel = make_group_normalization(std::move(form));
  return match;
}

constexpr std::string_view kRoots[] = {"MVN"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "instance_normalization", .roots = kRoots, .match = match, .priority = Priority::packed};

}  // namespace ovir::fast::patterns::instance_normalization
