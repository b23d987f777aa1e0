#include "fast/kit/head_products.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "fast/kit/functions.hpp"
#include "fast/kit/score_masks.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast {
namespace {

/// A MatMul of operands of the same rank as an Einsum.
std::optional<EinsumProduct> matmul_labels(const Graphlet& graph, int node, i64 rank) {
  if (rank < 2 || rank > kMaxEinsumDims) return std::nullopt;
  const auto& attrs = graph.attrs<MatMulAttrs>(node);
  const auto matrices = std::string("abcdef").substr(0, rank - 2);
  return einsum_product(matrices + (attrs.transpose_a ? "zx" : "xz"), matrices + (attrs.transpose_b ? "yz" : "zy"),
                        matrices + "xy");
}

/// The product that a node is.
std::optional<HeadProduct> product_of(const Graphlet& graph, int node, bool joined = false) {
  std::optional<EinsumProduct> labels;
  if (graph.type(node) == "MatMul") {
    const auto& shape = graph.fact({node, 0}).shape;
    if (joined || shape.has_rank()) labels = matmul_labels(graph, node, joined ? 4 : shape.rank());
  } else if (!joined) {
    labels = einsum_product(graph, node);
  }
  if (!labels) return std::nullopt;
  return HeadProduct{.product = node, .labels = std::move(*labels), .nodes = {node}, .joined = joined};
}

/// Takes the Transpose of a product's results.
bool take_transpose(const Graphlet& graph, int transpose, HeadProduct& product) {
  const auto order = order_of(graph, transpose, std::ssize(product.labels.out));
  std::string out;
  for (const auto axis : order) out += product.labels.out[static_cast<std::size_t>(axis)];
  if (order.empty()) return false;
  product.labels = *einsum_product(product.labels.a, product.labels.b, out);
  product.nodes.push_back(transpose);
  return true;
}

/// The product whose results a Transpose gives otherwise.
std::optional<HeadProduct> transposed_product(const Graphlet& graph, int transpose) {
  const auto from = graph.input(transpose, 0);
  auto product = is_inner(graph, from, {transpose}) ? product_of(graph, from.node) : std::nullopt;
  return product && take_transpose(graph, transpose, *product) ? product : std::nullopt;
}

/// Those of some labels that an operand has.
std::string shared(std::string_view labels, std::string_view operand) {
  std::string those;
  for (const char label : labels)
    if (operand.find(label) != std::string_view::npos) those += label;
  return those;
}

/// Batch, heads, rows and columns.
using Groups = std::array<std::string, 4>;

/// Where such labels lie among those of an operand; nothing where some that belong together do not lie side by side, or
/// where more than one of the four have not one label.
std::optional<HeadAxes> axes_of(std::string_view operand, const Groups& groups) {
  HeadAxes axes;
  const auto more = std::ssize(operand) - axes.rank;
  std::size_t labels = 0;
  for (const auto& group : groups) {
    const auto size = std::ssize(group);
    if (operand.find(group) == std::string_view::npos || (size != 1 && size != more + 1)) return std::nullopt;
    labels += group.size();
  }
  if (labels != operand.size()) return std::nullopt;
  for (std::size_t i = 0; i < 4; ++i) {
    const auto place = operand.find(groups[i]);
    const auto before = std::count_if(groups.begin(), groups.end(), [&](const std::string& group) {
      return !group.empty() && operand.find(group) < place;
    });
    axes.axes[i] = groups[i].empty() ? 0 : before + (more < 0);
    if (groups[i].size() != 1) axes.joined = axes.axes[i];
  }
  return axes;
}

/// The labels of both products: those that the second has of the scores are called as in the first.
struct Labels {
  std::string queries, keys, values, out, scores;
  std::string depth, columns;  ///< of queries and keys, and of values
};

std::optional<Labels> labels_of(const HeadProduct& first, const HeadProduct& second) {
  const auto& s = first.labels;
  const auto& v = second.labels;
  const auto& weights = second.port == 0 ? v.a : v.b;
  if (weights.size() != s.out.size() || v.sums != weights.substr(weights.size() - 1)) return std::nullopt;
  const auto renamed = [&](std::string labels) {
    for (auto& label : labels) {
      const auto place = weights.find(label);
      label = place == std::string::npos ? static_cast<char>(label | 0x80) : s.out[place];
    }
    return labels;
  };
  const bool keys_last = !shared(s.columns, s.out.substr(s.out.size() - 1)).empty();
  return Labels{.queries = keys_last ? s.a : s.b,
                .keys = keys_last ? s.b : s.a,
                .values = renamed(second.port == 0 ? v.b : v.a),
                .out = renamed(v.out),
                .scores = s.out,
                .depth = s.sums,
                .columns = renamed(second.port == 0 ? v.columns : v.rows)};
}

/// Where the axes of both products lie.
struct Lies {
  HeadAxes queries, keys, values, out;
  ScoreAxes scores;
  bool grouped = false;
};

/// The same where so many axes of the scores are heads and queries.
std::optional<Lies> lies_of(const Labels& l, const ScoreAxes& scores) {
  const auto keys_at = l.scores.size() - 1, rows_at = keys_at - scores.queries, heads_at = rows_at - scores.heads;
  const auto batch = l.scores.substr(0, heads_at), heads = l.scores.substr(heads_at, scores.heads),
             rows = l.scores.substr(rows_at, scores.queries), keys = l.scores.substr(keys_at);
  const auto own_batch = shared(batch, l.keys), own_heads = shared(heads, l.keys);
  const bool grouped = scores.heads > 1 && own_heads == heads.substr(0, 1);
  if ((!own_batch.empty() && own_batch != batch) || (!own_heads.empty() && own_heads != heads && !grouped))
    return std::nullopt;
  const auto q = axes_of(l.queries, {batch, heads, rows, l.depth}),
             k = axes_of(l.keys, {own_batch, own_heads, keys, l.depth}),
             v = axes_of(l.values, {own_batch, own_heads, keys, l.columns}),
             out = axes_of(l.out, {batch, heads, rows, l.columns});
  // Depth and columns that there are not would be axes of 1.
  if (!q || !k || !v || !out || l.depth.empty() || l.columns.empty()) return std::nullopt;
  const bool inside = are_inside(*q, false) && are_inside(*k, false) && are_inside(*out, true);
  return inside ? std::optional(Lies{*q, *k, *v, *out, scores, grouped}) : std::nullopt;
}

/// Single heads and queries rather than several.
std::optional<Lies> lies_of(const Labels& labels) {
  const auto rank = std::ssize(labels.scores);
  for (i64 queries = 1; queries < rank; ++queries)
    for (i64 heads = 1; heads + queries < rank; ++heads)
      if (auto lies = lies_of(labels, {heads, queries})) return lies;
  return std::nullopt;
}

/// Whether lengths of axes that an operand shares with the scores are, as far as they are known, the same.
bool agrees(const PartialShape& operand, std::string_view labels, const PartialShape& scores,
            std::string_view of_scores) {
  if (!operand.has_rank() || operand.rank() != std::ssize(labels)) return false;
  for (i64 i = 0; i < operand.rank(); ++i) {
    const auto place = of_scores.find(labels[i]);
    if (place != std::string_view::npos && !operand[i].compatible(scores[static_cast<i64>(place)])) return false;
  }
  return true;
}

}  // namespace

std::optional<HeadProduct> product_before(const Graphlet& graph, ValueRef v, const std::vector<int>& users) {
  if (!is_inner(graph, v, users)) return std::nullopt;
  if (graph.type(v.node) == "Transpose") return transposed_product(graph, v.node);
  if (graph.type(v.node) != "Reshape") return product_of(graph, v.node);
  const auto from = graph.input(v.node, 0);
  if (!is_inner(graph, from, {v.node}) || !joins(graph.fact(v).shape, graph.fact(from).shape)) return std::nullopt;
  auto product = product_of(graph, from.node, true);
  if (product) product->nodes.push_back(v.node);
  return product;
}

std::optional<HeadProduct> product_after(const Graphlet& graph, int node) {
  const auto next = graph.only_user({node, 0});
  const bool joined = graph.type(next) == "Reshape";
  const auto last = joined ? next : node;
  auto product = product_of(graph, joined ? graph.only_user({next, 0}) : next, joined);
  if (!product) return std::nullopt;
  product->port = graph.input(product->product, 0).node == last ? 0 : 1;
  if (!joined) {
    // Values may be multiplied from the left, by columns, and what they give be transposed.
    const auto& columns = product->port == 0 ? product->labels.columns : product->labels.rows;
    if (const auto after = graph.only_user({product->product, 0}); !product->labels.out.ends_with(columns) &&
                                                                   graph.type(after) == "Transpose" &&
                                                                   !take_transpose(graph, after, *product))
      return std::nullopt;
    return product;
  }
  const auto out = graph.only_user({product->product, 0});
  if (graph.type(out) != "Reshape") return std::nullopt;
  const auto &before = graph.fact({node, 0}).shape, &after = graph.fact({out, 0}).shape;
  // Of as many heads there are as many batches.
  if (!joins(before, graph.fact({next, 0}).shape) || !joins(after, graph.fact({product->product, 0}).shape) ||
      !before[0].compatible(after[0]) || !is_same(before[1], after[1]))
    return std::nullopt;
  product->nodes = {next, product->product, out};
  return product;
}

std::optional<ProductOperands> operands_of(const Graphlet& graph, const HeadProduct& scores,
                                           const HeadProduct& values) {
  const auto labels = labels_of(scores, values);
  const auto lies = labels ? lies_of(*labels) : std::nullopt;
  if (!lies) return std::nullopt;
  const auto& shape = graph.fact({scores.nodes.back(), 0}).shape;
  const auto operand = [&](const HeadProduct& of, int port, const std::string& own, bool columns_inside,
                           const HeadAxes& axes) -> std::optional<HeadOperand> {
    const auto v = graph.input(of.product, port);
    if (!is_f32(graph, v)) return std::nullopt;
    auto o = std::optional(HeadOperand{v, of.product, columns_inside});
    if (of.joined) o = joined_operand(graph, v, of.product, columns_inside, shape[0], shape[1]);
    else if (!agrees(graph.fact(v).shape, own, shape, labels->scores)) return std::nullopt;
    if (o) o->axes = axes;
    return o;
  };
  const int keys_port = labels->keys == scores.labels.b ? 1 : 0;
  const auto q = operand(scores, 1 - keys_port, labels->queries, false, lies->queries),
             k = operand(scores, keys_port, labels->keys, false, lies->keys),
             v = operand(values, 1 - values.port, labels->values, true, lies->values);
  if (!q || !k || !v) return std::nullopt;
  return ProductOperands{{*q, *k, *v}, lies->out, lies->scores, lies->grouped};
}

}  // namespace ovir::fast
