#include "fast/kit/heads.hpp"

#include <algorithm>
#include <cmath>

#include "fast/kit/axis_part.hpp"
#include "fast/kit/broadcasting.hpp"
#include "fast/kit/functions.hpp"

namespace ovir::fast {
namespace {

/// The product of lengths [begin, end), of those that there are.
i64 product(const View& v, i64 begin, i64 end) {
  i64 all = 1;
  for (auto axis = std::max(begin, i64{0}); axis < end; ++axis) all *= v.dim(axis);
  return all;
}

/// The operand as it is read of what a Transpose of this order reads.
HeadOperand turned(const HeadOperand& operand, const std::vector<i64>& order, ValueRef from, int transpose) {
  auto before = operand;
  before.value = from;
  before.user = transpose;
  for (auto& axis : before.axes.axes) axis = order[axis];
  if (before.axes.part_axis >= 0) before.axes.part_axis = order[before.axes.part_axis];
  return before;
}

bool is_inner(const Graphlet& graph, const HeadOperand& operand) {
  return operand.value.node >= 0 && graph.only_user(operand.value) == operand.user;
}

/// Whether a value that is reshaped has all its axes still, but the one at `without`, which is 1 (-1: none). The length
/// of one may be open, as it follows from those of the others, or of `open`.
bool keeps_axes(const PartialShape& from, const PartialShape& to, i64 without = -1, int open = 1) {
  if (!from.has_rank() || !to.has_rank() || from.rank() != to.rank() + (without >= 0)) return false;
  if (without >= 0 && !(from[without].is_static() && from[without].length() == 1)) return false;
  int unknown = 0;
  for (i64 i = 0; i < to.rank(); ++i) {
    const auto &a = from[i + (without >= 0 && i >= without)], &b = to[i];
    if (is_same(a, b)) continue;
    if ((a.is_static() && b.is_static()) || ++unknown > open) return false;
  }
  return true;
}

/// An operand as a part of another value, and what that one's Transpose reads.
struct PartOfSource {
  HeadWay way;
  int node = -1;         ///< that takes the part
  HeadOperand operand;   ///< of the source
  int transpose = -1;    ///< that gives the source
  HeadOperand before{};  ///< of what it reads
};

std::optional<PartOfSource> part_of_source(const Graphlet& graph, HeadOperand operand) {
  if (!is_inner(graph, operand) || operand.axes.rank != 4) return std::nullopt;
  PartOfSource part;
  if (const auto joined = before_joined(graph, operand)) {
    operand = joined->operand;
    part.way = joined->way;
  }
  const auto narrow = operand.apart.value_or(graph.fact(operand.value).shape);
  auto v = operand.value;
  const auto type = graph.type(v.node);
  const bool squeezed = type == "Squeeze" || type == "Reshape";
  if (squeezed) {
    part.way.add(v.node);
    v = graph.input(v.node, 0);
    if (v.node < 0 || graph.only_user(v) != part.way.last()) return std::nullopt;
  }
  const auto taken = part_of(graph, v);
  const bool gathered = graph.type(v.node) == "Gather";
  const i64 rank = squeezed || gathered ? 5 : 4;
  const auto source = graph.input(v.node, 0);
  const auto& shape = graph.fact(source).shape;
  if (!taken || (squeezed && gathered) || !is_f32(graph, source) || !shape.has_rank() || shape.rank() != rank ||
      !narrow.has_rank() || narrow.rank() != 4 || (squeezed && !keeps_axes(graph.fact(v).shape, narrow, taken->axis)))
    return std::nullopt;
  part.node = v.node;
  part.way.add(v.node);
  part.operand = {source, v.node, operand.columns_inside, operand.axes};
  auto& to = part.operand.axes;
  to.rank = rank;
  to.part_axis = taken->axis;
  to.first = taken->first;
  to.length = taken->length;
  if (rank == 5)
    for (auto& a : to.axes) a += a >= to.part_axis;
  if (const auto order = order_of(graph, source.node, rank); !order.empty()) {
    part.transpose = source.node;
    part.before = turned(part.operand, order, graph.input(source.node, 0), source.node);
  }
  return part;
}

/// Whether a node is a Tile of rank 5 that repeats this axis only.
bool tiles_along(const Graphlet& graph, int node, i64 axis) {
  if (graph.type(node) != "Tile") return false;
  const auto* repeats = graph.constant(graph.input(node, 1));
  if (!repeats || repeats->size() != 5) return false;
  const auto times = to_i64(*repeats);
  for (i64 i = 0; i < 5; ++i)
    if (i != axis && times[i] != 1) return false;
  return true;
}

/// Whether a Reshape by a constant leaves the first axis as it is.
bool keeps_first(const Graphlet& graph, int reshape, const Dim& to) {
  const auto* pattern = graph.constant(graph.input(reshape, 1));
  const bool empty = to.is_static() && to.length() == 0;  // what a 0 may mean
  return pattern && pattern->size() > 0 && to_i64(*pattern)[0] == 0 && !empty;
}

}  // namespace

i64 HeadAxes::dim(const View& v, i64 axis) const {
  if (axis == part_axis) return length;
  const auto more = v.rank() - rank;
  if (axis < joined) return v.dim(axis);
  if (axis > joined) return axis + more < 0 ? 1 : v.dim(axis + more);
  return product(v, joined, joined + more + 1);
}

bool HeadAxes::fits(const View& v) const {
  if (places) return v.size() == places->size;
  if (part_axis >= 0) return v.rank() == rank && first + length <= v.dim(part_axis);
  return v.rank() >= rank - 1;
}

HeadDims::HeadDims(const View& mask, const ScoreAxes& a) {
  auto end = mask.rank();
  const auto next = [&](i64 count) {
    const auto begin = end - count;
    const auto length = product(mask, begin, end);
    end = begin;
    return length;
  };
  columns = next(1);
  rows = next(a.queries);
  heads = next(a.heads);
  batch = product(mask, 0, end);
}

bool are_inside(const HeadAxes& a, bool columns) {
  const auto last = a.rank - 1;
  return a.axes[3] == last || (!columns && a.axes[2] == last);
}

std::vector<int> HeadWay::sorted() const {
  auto nodes = nodes_;
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

std::vector<i64> order_of(const Graphlet& graph, int node, i64 rank) {
  if (graph.type(node) != "Transpose") return {};
  const auto axes = constant_axes(graph, graph.input(node, 1), rank);
  return axes && std::ssize(*axes) == rank ? *axes : std::vector<i64>();
}

std::optional<Factors> factors_of(const Graphlet& graph, int node) {
  const bool divides = graph.type(node) == "Divide";
  if (!divides && graph.type(node) != "Multiply") return std::nullopt;
  const auto& product = graph.fact({node, 0}).shape;
  for (const int port : {1, 0}) {
    const auto* t = graph.constant(graph.input(node, port));
    const auto of = graph.input(node, 1 - port);
    const auto& shape = graph.fact(of).shape;
    // A constant of more axes than the value has gives it more.
    if (!t || t->type() != ElementType::f32 || t->size() == 0 || !is_f32(graph, of) || !shape.has_rank() ||
        !product.has_rank() || shape.rank() != product.rank() || (divides && port == 0))
      continue;
    const std::span values(t->data<float>(), t->size());
    if (t->size() == 1) return Factors{{divides ? 1 / values[0] : values[0]}, of};
    const bool by_head = !divides && product.rank() == 4 && t->rank() >= 3 && t->dim(t->rank() - 3) == t->size() &&
                         aligns_by_numpy(graph, node);
    if (by_head) return Factors{{values.begin(), values.end()}, of};
  }
  return std::nullopt;
}

bool joins(const PartialShape& apart, const PartialShape& joined) {
  return apart.has_rank() && apart.rank() == 4 && joined.has_rank() && joined.rank() == 3 &&
         is_same(apart[2], joined[1]) && is_same(apart[3], joined[2]);
}

std::optional<HeadOperand> joined_operand(const Graphlet& graph, ValueRef v, int user, bool columns_inside, Dim batch,
                                          Dim heads) {
  HeadOperand operand{v, user, columns_inside};
  const auto& joined = graph.fact(v).shape;
  if (graph.type(v.node) != "Reshape" || !is_inner(graph, operand) || !joined.has_rank() || joined.rank() != 3)
    return std::nullopt;
  operand.apart = PartialShape({batch, heads, joined[1], joined[2]});
  return operand;
}

std::optional<JoinedOperand> before_joined(const Graphlet& graph, const HeadOperand& operand) {
  const auto last = operand.value.node;
  if (!is_inner(graph, operand) || operand.apart || operand.axes.rank != 4 || graph.type(last) != "Reshape")
    return std::nullopt;
  const auto transposed = graph.input(last, 0);
  const auto& apart = graph.fact(operand.value).shape;
  if (transposed.node < 0 || graph.only_user(transposed) != last || !joins(apart, graph.fact(transposed).shape) ||
      order_of(graph, transposed.node, 3) != std::vector<i64>{0, 2, 1})
    return std::nullopt;
  const auto before = joined_operand(graph, graph.input(transposed.node, 0), transposed.node, operand.columns_inside,
                                     apart[0], apart[1]);
  if (!before) return std::nullopt;
  JoinedOperand joined{*before, {}};
  joined.operand.axes = turned(operand, {0, 1, 3, 2}, before->value, transposed.node).axes;
  if (!are_inside(joined.operand.axes, operand.columns_inside)) return std::nullopt;
  joined.way.add(last);
  joined.way.add(transposed.node);
  return joined;
}

std::optional<Repetition> repetition_of(const Graphlet& graph, const HeadOperand& operand) {
  Repetition r;
  const auto before = before_joined(graph, operand);
  if (before) r.way.add(before->way);
  const auto& repeated = before ? before->operand : operand;
  const bool joined = repeated.apart.has_value();
  const auto [batch, heads, rows, columns] = repeated.axes.axes;
  if (repeated.axes.rank != 4 || (joined && repeated.axes.axes != HeadAxes{}.axes)) return std::nullopt;
  auto v = repeated.value;
  auto user = repeated.user;
  std::array<int, 3> nodes{};
  for (std::size_t i = 0; i < 3; ++i) {
    constexpr std::string_view kTypes[] = {"Reshape", "Broadcast", "Unsqueeze"};
    const bool tiles = i == 1 && tiles_along(graph, v.node, heads + 1);
    if (v.node < 0 || (graph.type(v.node) != kTypes[i] && !tiles) || graph.only_user(v) != user) return std::nullopt;
    user = nodes[i] = v.node;
    r.way.add(user);
    v = graph.input(user, 0);
  }
  const auto [reshape, broadcast, unsqueeze] = nodes;
  r.from = {v, unsqueeze, operand.columns_inside, repeated.axes};
  const auto unsqueezed = constant_axes(graph, graph.input(unsqueeze, 1), 5);
  const auto &from = graph.fact(v).shape, &all = graph.fact({broadcast, 0}).shape,
             &to = joined ? *repeated.apart : graph.fact(repeated.value).shape;
  if (!unsqueezed || *unsqueezed != std::vector<i64>{heads + 1} || !graph.constant(graph.input(reshape, 1)) ||
      !is_f32(graph, v) || !from.has_rank() || from.rank() != 4 || !all.has_rank() || all.rank() != 5 ||
      !to.has_rank() || to.rank() != 4)
    return std::nullopt;
  const auto wide = [&](i64 axis) { return all[axis + (axis > heads)]; };
  const auto times = all[heads + 1];
  // Where the number of heads is open there may be one, which all share. That rows stay rows follows from their number.
  // Batches that are not known are judged by prepare(): those of the output tell. Nor are rows, of which one may become
  // many; several cannot.
  const bool keeps_batch = is_same(wide(batch), to[batch]) ||
                           (!joined && batch == 0 && keeps_first(graph, reshape, to[0])) ||
                           (joined && is_same(wide(rows), to[rows]));
  r.rows_known = is_same(from[rows], wide(rows));
  const bool repeats = from[batch].compatible(wide(batch)) && keeps_batch && from[heads].compatible(wide(heads)) &&
                       from[rows].compatible(wide(rows)) && is_same(from[columns], wide(columns)) &&
                       is_same(from[columns], to[columns]) && wide(heads).is_static() && times.is_static() &&
                       to[heads].is_static() && to[columns].is_static() &&
                       to[heads].length() == wide(heads).length() * times.length();
  return repeats ? std::optional(std::move(r)) : std::nullopt;
}

void take_way(const Graphlet& graph, HeadOperand& operand, HeadWay& way, float* factor) {
  while (is_inner(graph, operand) && operand.value.port == 0 && operand.axes.rank == 4) {
    const auto node = operand.value.node;
    if (operand.apart) {
      // Batch and rows, where both are open, are judged by prepare(): those of the other operands tell.
      const auto from = graph.input(node, 0);
      if (!keeps_axes(graph.fact(from).shape, *operand.apart, -1, 2)) return;
      operand = {from, node, operand.columns_inside, operand.axes};
    } else if (const auto order = order_of(graph, node); !order.empty()) {
      const auto before = turned(operand, order, graph.input(node, 0), node);
      if (!are_inside(before.axes, operand.columns_inside)) return;
      operand = before;
    } else if (const auto factors = factors_of(graph, node);
               factor && factors && factors->numbers.size() == 1 && std::isfinite(factors->numbers.front())) {
      *factor *= factors->numbers.front();
      operand.value = factors->of;
      operand.user = node;
    } else if (const auto joined = before_joined(graph, operand)) {
      auto before = joined->operand;
      auto taken = joined->way;
      take_way(graph, before, taken, factor);
      if (before.apart) return;
      way.add(taken);
      operand = before;
    } else {
      return;
    }
    way.add(node);
  }
}

void take_parts(const Graphlet& graph, std::array<HeadOperand, 3>& operands, HeadWay& way) {
  std::array<std::optional<PartOfSource>, 3> parts;
  for (std::size_t i = 0; i < 3; ++i) parts[i] = part_of_source(graph, operands[i]);
  // Every output of a Split is read by another of them.
  const auto takes_all = [&](int node) {
    const auto count = std::count_if(parts.begin(), parts.end(), [&](const auto& p) { return p && p->node == node; });
    return count > 0 && count == graph.node(node).output_count;
  };
  const auto is_readable = [](const HeadOperand& o) { return are_inside(o.axes, o.columns_inside); };
  // A Transpose goes where nobody else reads what it gives.
  const auto goes_before = [&](const PartOfSource& part) {
    const auto users = graph.users(part.operand.value);
    return part.transpose >= 0 && std::all_of(users.begin(), users.end(), [&](int user) {
             return takes_all(user) && std::all_of(parts.begin(), parts.end(), [&](const auto& p) {
                      return !p || p->node != user || is_readable(p->before);
                    });
           });
  };
  for (std::size_t i = 0; i < 3; ++i) {
    if (!parts[i] || !takes_all(parts[i]->node)) continue;
    const auto& part = *parts[i];
    const bool before = goes_before(part);
    if (!before && !is_readable(part.operand)) continue;
    operands[i] = before ? part.before : part.operand;
    way.add(part.way);
    if (before) way.add(part.transpose);
  }
}

}  // namespace ovir::fast
