#include "fast/kit/spelled_out.hpp"

#include <algorithm>
#include <cmath>

#include "fast/kit/functions.hpp"

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

std::optional<ValueRef> squared_by(const Graphlet& graph, int node) {
  const auto x = graph.input(node, 0), by = graph.input(node, 1);
  const auto& shape = graph.fact(x).shape;
  // An exponent of more axes would give the square more of them, too.
  const auto is_two = [&] {
    return number(graph, by) == 2.0F && shape.has_rank() && graph.constant(by)->rank() <= shape.rank();
  };
  const bool squares = graph.type(node) == "Multiply" ? same(x, by) : graph.type(node) == "Power" && is_two();
  return squares ? std::optional(x) : std::nullopt;
}

std::optional<MeanNodes> mean_from(const Graphlet& graph, int reduction) {
  const auto type = graph.type(reduction);
  const auto& shape = graph.fact(graph.input(reduction, 0)).shape;
  if ((type != "ReduceMean" && type != "ReduceSum") || !shape.has_rank()) return std::nullopt;
  auto axes = constant_axes(graph, graph.input(reduction, 1), shape.rank());
  if (!axes || axes->empty()) return std::nullopt;
  std::sort(axes->begin(), axes->end());
  MeanNodes mean{{reduction}, std::move(*axes)};
  if (type == "ReduceMean") return mean;
  double count = 1;
  for (const auto axis : mean.axes) {
    if (!shape[axis].is_static()) return std::nullopt;
    count *= static_cast<double>(shape[axis].length());
  }
  auto scaled = followed_by(graph, reduction, "Multiply");
  const bool divided = !scaled;
  if (divided) scaled = followed_by(graph, reduction, "Divide");
  const auto by = scaled ? number(graph, graph.input(scaled->first, 1 - scaled->second)) : std::nullopt;
  constexpr double kRounded = 1e-6;
  if (!by || (divided && scaled->second != 0) || std::abs((divided ? *by / count : *by * count) - 1) > kRounded)
    return std::nullopt;
  mean.nodes.push_back(scaled->first);
  return mean;
}

std::optional<std::vector<int>> laid_as(const Graphlet& graph, int node, const PartialShape& shape) {
  if (is_same(graph.fact({node, 0}).shape, shape)) return std::vector<int>{};
  const auto next = graph.only_user({node, 0});
  const auto type = graph.type(next);
  const bool lays = type == "Reshape" || type == "Unsqueeze" || type == "Broadcast";
  return lays && is_same(graph.fact({next, 0}).shape, shape) ? std::optional(std::vector{next}) : std::nullopt;
}

std::optional<InverseRoot> inverse_root_after(const Graphlet& graph, int node) {
  auto root = followed_by(graph, node, "Sqrt");
  if (const auto power = followed_by(graph, node, "Power"); power && power->second == 0) {
    const auto exponent = number(graph, graph.input(power->first, 1));
    if (exponent == -0.5F) return InverseRoot{{power->first}, false};
    if (exponent == 0.5F) root = power;
  }
  if (!root) return std::nullopt;
  const auto divide = followed_by(graph, root->first, "Divide");
  if (!divide || divide->second != 1) return std::nullopt;
  if (number(graph, graph.input(divide->first, 0)) == 1.0F) return InverseRoot{{root->first, divide->first}, false};
  return InverseRoot{{root->first, divide->first}, true};
}

}  // namespace ovir::fast
