// Operations that give what they get, as exporters write them where axes might have been repeated, joined or cut:
// Broadcast and Tile, Reshape, Squeeze and Unsqueeze, Slice; FakeQuantize of what is on its levels; and Add of -0,
// Subtract of 0, Multiply and Divide by 1.
#include <cstring>

#include "fast/kit/levels.hpp"
#include "plan/pattern.hpp"

namespace ovir::fast::patterns::unchanged {
namespace {

/// The number by which an operation changes nothing: 0 would make 0 of -0 where it is added.
std::optional<float> neutral(std::string_view type) {
  if (type == "Add") return -0.0F;
  if (type == "Subtract") return 0.0F;
  return type == "Multiply" || type == "Divide" ? std::optional(1.0F) : std::nullopt;
}

/// Whether all elements of a constant are this number, to the bit. They are read where they lie, up to the first other.
bool consists_of(const Tensor* constant, float value) {
  if (!constant || constant->type() != ElementType::f32) return false;
  const auto* const elements = constant->source();
  for (i64 i = 0; i < constant->size(); ++i)
    if (std::memcmp(elements + i * i64{sizeof value}, &value, sizeof value) != 0) return false;
  return true;
}

/// Whether a Slice that gives as many elements as it gets gives them in the same order.
bool takes_all(const Graphlet& graph, int root) {
  for (int port = 1; port < std::ssize(graph.node(root).inputs); ++port)
    if (!graph.constant(graph.input(root, port))) return false;
  return std::ranges::all_of(to_i64(*graph.constant(graph.input(root, 3))), [](i64 step) { return step > 0; });
}

std::optional<Match> match(const Graphlet& graph, int root) {
  if (const auto number = neutral(graph.type(root))) {
    const bool either = graph.type(root) == "Add" || graph.type(root) == "Multiply";
    const int port = either && graph.constant(graph.input(root, 0)) ? 1 : 0;
    const auto x = graph.input(root, port);
    const auto &shape = graph.fact(x).shape, &out = graph.fact({root, 0}).shape;
    const bool same = shape.is_static() && shape == out && graph.stored(x) == graph.stored({root, 0});
    return same && !graph.constant(x) && consists_of(graph.constant(graph.input(root, 1 - port)), *number)
               ? std::optional(Match{{root}, {x}, nullptr})
               : std::nullopt;
  }
  const auto from = graph.input(root, 0);
  const auto &before = graph.fact(from), &after = graph.fact({root, 0});
  if (!before.shape.is_static() || before.shape != after.shape || before.type != after.type || graph.constant(from) ||
      graph.stored(from) != graph.stored({root, 0}))
    return std::nullopt;
  if (graph.type(root) == "FakeQuantize")
    return is_quantized_again(graph, root) ? std::optional(Match{{root}, {from}, nullptr}) : std::nullopt;
  if (graph.type(root) == "Slice")
    return takes_all(graph, root) ? std::optional(Match{{root}, {from}, nullptr}) : std::nullopt;
  // What only the run knows may be at fault, and by a mapping of axes equal lengths need not be the same axes.
  if (graph.input(root, 1).node >= 0 && !graph.constant(graph.input(root, 1))) return std::nullopt;
  if (graph.input(root, 2).node >= 0) return std::nullopt;
  return Match{{root}, {from}, nullptr};
}

constexpr std::string_view kRoots[] = {"Add",   "Broadcast", "Divide",   "FakeQuantize", "Multiply", "Reshape",
                                       "Slice", "Squeeze",   "Subtract", "Tile",         "Unsqueeze"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "unchanged", .roots = kRoots, .match = match, .priority = Priority::unchanged};

}  // namespace ovir::fast::patterns::unchanged
