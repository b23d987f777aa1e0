#include "fast/kit/spelled_out.hpp"

namespace ovir::fast {

std::optional<float> number(const Graphlet& graph, ValueRef v) {
  const auto* t = graph.constant(v);
  if (!t || t->size() != 1 || t->type() != ElementType::f32) return std::nullopt;
  return *t->data<float>();
}

std::optional<i64> whole_number(const Graphlet& graph, ValueRef v) {
  const auto* t = graph.constant(v);
  return t && t->size() == 1 && contains(kIndex, t->type()) ? std::optional(to_i64(*t).front()) : std::nullopt;
}

std::optional<std::pair<int, int>> followed_by(const Graphlet& graph, int node, std::string_view type) {
  const auto next = graph.only_user({node, 0});
  if (graph.type(next) != type) return std::nullopt;
  return std::pair(next, graph.input(next, 0).node == node ? 0 : 1);
}

std::optional<InverseRoot> inverse_root_after(const Graphlet& graph, int node) {
  if (const auto power = followed_by(graph, node, "Power"))
    return power->second == 0 && number(graph, graph.input(power->first, 1)) == -0.5F
               ? std::optional(InverseRoot{{power->first}, false})
               : std::nullopt;
  const auto root = followed_by(graph, node, "Sqrt");
  if (!root) return std::nullopt;
  const auto divide = followed_by(graph, root->first, "Divide");
  if (!divide || divide->second != 1) return std::nullopt;
  if (number(graph, graph.input(divide->first, 0)) == 1.0F) return InverseRoot{{root->first, divide->first}, false};
  return InverseRoot{{root->first, divide->first}, true};
}

}  // namespace ovir::fast
