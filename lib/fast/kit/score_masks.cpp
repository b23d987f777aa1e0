#include "fast/kit/score_masks.hpp"

#include "fast/kit/broadcasting.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/spelled_out.hpp"
#include "tensor/walk.hpp"

namespace ovir::fast {
namespace {

/// Adds the constant operand of an Add to `sum`, of this shape, and gives the other operand; nothing where it has none.
std::optional<ValueRef> add_constant(const Graphlet& graph, ValueRef v, int user, const Shape& shape,
                                     std::vector<float>& sum) {
  if (!is_inner(graph, v, user) || !adds(graph, v.node)) return std::nullopt;
  for (const int port : {0, 1}) {
    const auto* t = graph.constant(graph.input(v.node, port));
    const auto other = graph.input(v.node, 1 - port);
    if (!t || t->type() != ElementType::f32 || t->rank() > shape.rank() || graph.fact(other).shape != shape) continue;
    const auto strides = broadcast_strides(t->shape(), shape);
    i64 i = 0;
    for (IndexWalker at(shape); !at.done(); at.next()) sum[i++] += t->data<float>()[at.offset(strides)];
    return other;
  }
  return std::nullopt;
}

/// Where v is numbers by row of a grid, or by column: the shape of the grid's scores but for one of its two axes.
bool is_by_axis(const Graphlet& graph, ValueRef v, const Shape& grid, i64 axis) {
  const auto& shape = graph.fact(v).shape;
  if (!is_f32(graph, v) || !shape.is_static() || shape.rank() != grid.rank()) return false;
  for (i64 i = 0; i < shape.rank(); ++i)
    if (shape[i].length() != (i == axis ? 1 : grid[i])) return false;
  return true;
}

/// Takes v into a grid of this shape, where it is by row or by column, and has not been taken.
bool take_part(const Graphlet& graph, AddedGrid& added, ValueRef v, const Shape& grid) {
  const auto take = [&](ValueRef& part, i64 axis) {
    if (part.node >= 0 || !is_by_axis(graph, v, grid, axis)) return false;
    part = v;
    return true;
  };
  return take(added.by_row, grid.rank() - 1) || take(added.by_column, grid.rank() - 2);
}

/// The Reshape that joins the last two axes, with what is before it; nothing where v is of none.
std::optional<AddedGrid> joined_grid(const Graphlet& graph, ValueRef v, const std::vector<int>& users, Shape& grid) {
  const auto &joined = graph.fact(v).shape, &wide = graph.fact(graph.input(v.node, 0)).shape;
  if (!is_inner(graph, v, users) || graph.type(v.node) != "Reshape" || !joined.is_static() || !wide.is_static() ||
      joined.rank() < 3 || wide.rank() < 4)
    return std::nullopt;
  grid = wide.to_shape();
  const auto rows = grid[grid.rank() - 2], columns = grid[grid.rank() - 1];
  if (rows * columns != joined[joined.rank() - 1].length() || rows == 1 || columns == 1) return std::nullopt;
  return AddedGrid{{v.node}, {}, {}, columns, graph.input(v.node, 0)};
}

/// The node of this type whose value only `user` reads; -1: none.
int own_node(const Graphlet& graph, ValueRef v, int user, std::string_view type) {
  return graph.type(v.node) == type && graph.only_user(v) == user ? v.node : -1;
}

/// Keras makes masks as large as scores: And with what is true of their shape everywhere.
void take_widening(const Graphlet& graph, Masked& masked) {
  const auto both = own_node(graph, masked.mask, masked.nodes.back(), "LogicalAnd");
  if (both < 0 || !aligns_by_numpy(graph, both)) return;
  for (const int port : {0, 1}) {
    const auto wide = own_node(graph, graph.input(both, port), both, "Broadcast");
    const auto* value = graph.constant(graph.input(wide, 0));
    const auto shape = own_node(graph, graph.input(wide, 1), wide, "ShapeOf");
    if (shape < 0 || !same(graph.input(shape, 0), masked.scores) || !value || value->type() != ElementType::boolean ||
        value->size() != 1 || !*value->data<char>())
      continue;
    masked.mask = graph.input(both, 1 - port);
    masked.nodes.insert(masked.nodes.end(), {both, wide, shape});
    return;
  }
}

/// Whether a mask has no more axes than scores; their lengths are judged by prepare(), as far as they are open.
bool is_within(const PartialShape& mask, const PartialShape& scores) {
  if (!mask.has_rank() || mask.rank() > scores.rank()) return false;
  for (i64 back = 1; back <= mask.rank(); ++back) {
    const auto &own = mask[mask.rank() - back], &other = scores[scores.rank() - back];
    if (!(own.is_static() && own.length() == 1) && !own.compatible(other)) return false;
  }
  return true;
}

}  // namespace

bool is_inner(const Graphlet& graph, ValueRef v, int user) {
  return v.node >= 0 && v.port == 0 && is_f32(graph, v) && graph.only_user(v) == user && !graph.type(v.node).empty();
}

bool is_inner(const Graphlet& graph, ValueRef v, const std::vector<int>& users) {
  const auto all = graph.users(v);
  return v.node >= 0 && v.port == 0 && is_f32(graph, v) && !graph.type(v.node).empty() && !all.empty() &&
         std::all_of(all.begin(), all.end(),
                     [&](int user) { return std::find(users.begin(), users.end(), user) != users.end(); });
}

bool adds(const Graphlet& graph, int node) { return graph.type(node) == "Add" && aligns_by_numpy(graph, node); }

std::optional<Masked> masked_scores(const Graphlet& graph, ValueRef v, const std::vector<int>& users) {
  if (!is_inner(graph, v, users) || graph.type(v.node) != "Select" || !aligns_by_numpy(graph, v.node))
    return std::nullopt;
  const auto mask = graph.input(v.node, 0);
  if (graph.stored(mask) != ElementType::boolean) return std::nullopt;
  for (const int port : {1, 2}) {
    const auto scores = graph.input(v.node, port), other = graph.input(v.node, 3 - port);
    const auto hidden = number(graph, other);
    const auto& shape = graph.fact(scores).shape;
    if (!hidden || !shape.has_rank() || graph.constant(other)->rank() > shape.rank() ||
        !is_within(graph.fact(mask).shape, shape))
      continue;
    Masked masked{mask, scores, {port == 2, *hidden}, {v.node}};
    take_widening(graph, masked);
    return masked;
  }
  return std::nullopt;
}

std::optional<AddedConstants> added_constants(const Graphlet& graph, ValueRef v, const std::vector<int>& users) {
  constexpr i64 kMostScores = 4 << 20;  // of which all have a number of their own
  const auto& facts = graph.fact(v).shape;
  if (!is_inner(graph, v, users) || graph.type(v.node) != "Reshape" || !facts.is_static()) return std::nullopt;
  const auto scores = facts.to_shape();
  const auto& wide = graph.fact(graph.input(v.node, 0)).shape;
  if (scores.count() > kMostScores || !wide.is_static()) return std::nullopt;
  AddedConstants result{{v.node}, std::vector<float>(scores.count()), graph.input(v.node, 0)};
  auto& [nodes, sum, from] = result;
  const auto add = [&](const Shape& shape) {
    const auto before = add_constant(graph, from, nodes.back(), shape, sum);
    if (!before) return false;
    nodes.push_back(from.node);
    from = *before;
    return true;
  };
  while (add(wide.to_shape())) {
  }
  if (!is_inner(graph, from, nodes.back()) || graph.type(from.node) != "Reshape" ||
      graph.fact(graph.input(from.node, 0)).shape != scores)
    return std::nullopt;
  nodes.push_back(from.node);
  from = graph.input(from.node, 0);
  add(scores);
  return result;
}

std::optional<AddedGrid> added_grid(const Graphlet& graph, ValueRef v, const std::vector<int>& users) {
  Shape grid;
  auto added = joined_grid(graph, v, users, grid);
  for (int i = 0; added && i < 2; ++i) {
    const auto add = added->from;
    if (!is_inner(graph, add, added->nodes.back()) || !adds(graph, add.node)) return std::nullopt;
    added->nodes.push_back(add.node);
    const auto a = graph.input(add.node, 0), b = graph.input(add.node, 1);
    if (take_part(graph, *added, b, grid)) added->from = a;
    else if (take_part(graph, *added, a, grid)) added->from = b;
    else return std::nullopt;
  }
  if (!added || !is_inner(graph, added->from, added->nodes.back()) || graph.type(added->from.node) != "Reshape" ||
      graph.fact(graph.input(added->from.node, 0)).shape != graph.fact(v).shape)
    return std::nullopt;
  added->nodes.push_back(added->from.node);
  added->from = graph.input(added->from.node, 0);
  return added;
}

std::optional<AddedGrid> grid_mask(const Graphlet& graph, ValueRef mask, int user) {
  Shape grid;
  auto added = joined_grid(graph, mask, {user}, grid);
  if (!added || !is_inner(graph, added->from, mask.node) || !adds(graph, added->from.node)) return std::nullopt;
  const auto add = added->from.node;
  added->nodes.push_back(add);
  const bool takes =
      take_part(graph, *added, graph.input(add, 0), grid) && take_part(graph, *added, graph.input(add, 1), grid);
  return takes ? added : std::nullopt;
}

}  // namespace ovir::fast
