// Operations that give what they get, as exporters write them where axes might have been repeated or joined: Broadcast
// and Tile, Reshape, Squeeze and Unsqueeze; and FakeQuantize of what is on its levels.
#include "fast/kit/levels.hpp"
#include "plan/pattern.hpp"

namespace ovir::fast::patterns::unchanged {
namespace {

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto from = graph.input(root, 0);
  const auto &before = graph.fact(from), &after = graph.fact({root, 0});
  if (!before.shape.is_static() || before.shape != after.shape || before.type != after.type || graph.constant(from) ||
      graph.stored(from) != graph.stored({root, 0}))
    return std::nullopt;
  if (graph.type(root) == "FakeQuantize")
    return is_quantized_again(graph, root) ? std::optional(Match{{root}, {from}, nullptr}) : std::nullopt;
  // What only the run knows may be at fault, and by a mapping of axes equal lengths need not be the same axes.
  if (graph.input(root, 1).node >= 0 && !graph.constant(graph.input(root, 1))) return std::nullopt;
  if (graph.input(root, 2).node >= 0) return std::nullopt;
  return Match{{root}, {from}, nullptr};
}

constexpr std::string_view kRoots[] = {"Broadcast", "FakeQuantize", "Reshape", "Squeeze", "Tile", "Unsqueeze"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "unchanged", .roots = kRoots, .match = match, .priority = Priority::unchanged};

}  // namespace ovir::fast::patterns::unchanged
