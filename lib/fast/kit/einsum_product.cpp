#include "fast/kit/einsum_product.hpp"

#include <algorithm>
#include <array>

#include "fast/kit/functions.hpp"
#include "op/kit/einsum.hpp"

namespace ovir::fast {
namespace {

bool has(std::string_view labels, char label) { return labels.find(label) != std::string_view::npos; }

/// A subscript whose ellipsis, if it has one, is a label for each of the `axes` that it covers.
std::string spelt_out(std::string_view subscript, i64 axes) {
  std::string labels;
  for (const char label : subscript) {
    if (label != EinsumEquation::kEllipsis) labels += label;
    else
      for (i64 axis = 0; axis < axes; ++axis) labels += static_cast<char>('0' + axis);
  }
  return labels;
}

}  // namespace

std::optional<EinsumProduct> einsum_product(std::string a, std::string b, std::string out) {
  EinsumProduct p{std::move(a), std::move(b), std::move(out)};
  for (const std::string_view labels : {p.a, p.b})
    for (const char label : labels) {
      if (std::count(labels.begin(), labels.end(), label) > 1) return std::nullopt;
      if (!has(p.out, label) && !(has(p.a, label) && has(p.b, label))) return std::nullopt;
    }
  for (const char label : p.out)
    (has(p.a, label) && has(p.b, label) ? p.matrices : (has(p.a, label) ? p.rows : p.columns)) += label;
  for (const char label : p.a)
    if (!has(p.out, label)) p.sums += label;
  return p;
}

std::optional<EinsumLabels> einsum_labels(const Graphlet& graph, int node) {
  if (graph.type(node) != "Einsum") return std::nullopt;
  const auto& equation = graph.attrs<EinsumAttrs>(node).equation;
  i64 covered = -1;
  for (int i = 0; i < std::ssize(equation.inputs); ++i) {
    const auto v = graph.input(node, i);
    const auto& shape = graph.fact(v).shape;
    if (!is_f32(graph, v) || !shape.has_rank() || shape.rank() > kMaxEinsumDims) return std::nullopt;
    if (!has(equation.inputs[i], EinsumEquation::kEllipsis)) continue;
    const auto axes = shape.rank() + 1 - std::ssize(equation.inputs[i]);
    if (covered >= 0 && axes != covered) return std::nullopt;
    covered = axes;
  }
  EinsumLabels labels{.operands = {}, .out = spelt_out(equation.output, covered)};
  for (const auto& input : equation.inputs) labels.operands.push_back(spelt_out(input, covered));
  return labels;
}

std::optional<EinsumProduct> einsum_product(const Graphlet& graph, int node) {
  auto labels = einsum_labels(graph, node);
  if (!labels || labels->operands.size() != 2) return std::nullopt;
  return einsum_product(std::move(labels->operands[0]), std::move(labels->operands[1]), std::move(labels->out));
}

std::vector<i64> order_of(std::string_view from, std::string_view to) {
  std::vector<i64> order;
  for (const char label : to) order.push_back(static_cast<i64>(from.find(label)));
  return order;
}

bool multiplies_in_pairs(const EinsumLabels& labels) {
  std::string all = labels.out;
  for (const auto& operand : labels.operands) all += operand;
  return std::ranges::all_of(labels.operands, [&](const std::string& operand) {
    return std::ranges::all_of(operand, [&](char label) {
      return std::ranges::count(operand, label) == 1 && std::ranges::count(all, label) > 1;
    });
  });
}

}  // namespace ovir::fast
