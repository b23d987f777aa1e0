#include "fast/kit/integers.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "fast/kit/broadcasting.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/spelled_out.hpp"

namespace ovir::fast {
namespace {

/// The u8 of one value that a Convert makes i32 of; node < 0: none.
ValueRef bytes_before(const Graphlet& graph, ValueRef v) {
  if (graph.type(v.node) != "Convert" || graph.stored(v) != ElementType::i32) return {-1, 0};
  const auto x = graph.input(v.node, 0);
  return graph.fact(x).type == ElementType::u8 && graph.stored(x) == ElementType::u8 ? x : ValueRef{-1, 0};
}

/// Whether a value is one number that gives those of `rank` that it is combined with no other shape.
bool has_one(const Graphlet& graph, ValueRef v, i64 rank) {
  const auto& shape = graph.fact(v).shape;
  return shape.is_static() && shape.rank() <= rank && shape.to_shape().count() == 1;
}

/// An i32 value that is u8, less a zero point of one number.
struct Bytes {
  std::vector<int> nodes;  ///< in topological order: others may read the value, too
  ValueRef x, zero{-1, 0};
};
std::optional<Bytes> bytes_of(const Graphlet& graph, ValueRef v) {
  if (graph.type(v.node) != "Subtract") {
    const auto x = bytes_before(graph, v);
    return x.node < 0 ? std::nullopt : std::optional(Bytes{{v.node}, x});
  }
  const auto a = graph.input(v.node, 0), b = graph.input(v.node, 1);
  const auto x = bytes_before(graph, a), zero = bytes_before(graph, b);
  if (x.node < 0 || zero.node < 0) return std::nullopt;
  const auto& shape = graph.fact(x).shape;
  if (!shape.has_rank() || !has_one(graph, zero, shape.rank())) return std::nullopt;
  std::vector nodes{a.node, b.node};
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  nodes.push_back(v.node);
  return Bytes{std::move(nodes), x, zero};
}

/// The Multiply of f32 by one number or, of the last axis, by one a column, that alone reads the value; what it
/// multiplies by.
std::optional<std::pair<int, ValueRef>> step_after(const Graphlet& graph, int node, i64 columns) {
  const auto multiply = followed_by(graph, node, "Multiply");
  if (!multiply || !aligns_by_numpy(graph, multiply->first)) return std::nullopt;
  const auto step = graph.input(multiply->first, 1 - multiply->second);
  const auto& shape = graph.fact(step).shape;
  const auto rank = graph.fact({node, 0}).shape.rank();
  if (!is_f32(graph, step) || !is_f32(graph, {multiply->first, 0}) || !shape.is_static() || shape.rank() > rank)
    return std::nullopt;
  const auto dims = shape.to_shape();
  const bool by_column = columns > 0 && !dims.empty() && dims[dims.size() - 1] == columns && dims.count() == columns;
  if (!has_one(graph, step, rank) && !by_column) return std::nullopt;
  return std::pair(multiply->first, step);
}

}  // namespace

std::optional<IntegerProduct> integer_product(const Graphlet& graph, int root, i64 columns) {
  auto bytes = bytes_of(graph, graph.input(root, 0));
  const auto convert = followed_by(graph, root, "Convert");
  if (!bytes || !convert || !is_f32(graph, {convert->first, 0})) return std::nullopt;
  IntegerProduct found{{std::move(bytes->nodes), {bytes->x}, nullptr}};
  auto& match = found.match;
  match.shared = match.nodes.size();
  match.nodes.insert(match.nodes.end(), {root, convert->first});
  const auto operand = [&](ValueRef v) {
    match.inputs.push_back(v);
    return static_cast<int>(match.inputs.size()) - 1;
  };
  if (bytes->zero.node >= 0) found.zero = operand(bytes->zero);
  if (const auto multiplied = step_after(graph, convert->first, columns)) {
    match.nodes.push_back(multiplied->first);
    found.step = operand(multiplied->second);
  }
  return found;
}

}  // namespace ovir::fast
