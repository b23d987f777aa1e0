#include "fast/kit/score_masks.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>

#include "fast/kit/broadcasting.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/spelled_out.hpp"
#include "tensor/walk.hpp"

namespace ovir::fast {
namespace {

/// A constant that is added to scores of this shape.
struct AddedConstant {
  const Tensor* constant;
  Shape scores;
  ValueRef to;
};

/// Where v, which only `user` reads, is of an Add of a constant.
std::optional<AddedConstant> added_constant(const Graphlet& graph, ValueRef v, int user, const Shape& scores) {
  if (!is_inner(graph, v, user) || !adds(graph, v.node)) return std::nullopt;
  for (const int port : {0, 1}) {
    const auto* t = graph.constant(graph.input(v.node, port));
    const auto other = graph.input(v.node, 1 - port);
    if (t && t->type() == ElementType::f32 && t->rank() <= scores.rank() && graph.fact(other).shape == scores)
      return AddedConstant{t, scores, other};
  }
  return std::nullopt;
}

/// Constants as they are added to the last `inner` axes of scores, at each place of the axes before.
class ConstantsByBatch {
 public:
  explicit ConstantsByBatch(const Shape& scores, i64 inner)
      : block_(scores.end() - inner, scores.end()), batches_(scores.count() / block_.count()) {}

  /// Whether scores of another shape have the same blocks.
  bool has_blocks(const Shape& scores) const {
    const auto axes = std::ssize(block_);
    return scores.rank() >= axes && std::equal(block_.begin(), block_.end(), scores.end() - axes);
  }
  i64 block() const { return block_.count(); }

  void add(const AddedConstant& added) {
    const auto strides = broadcast_strides(added.constant->shape(), added.scores);
    const auto split = strides.end() - std::ssize(block_);
    const Shape outer(strides.begin(), split);
    Part part{added.constant->data<float>(), Shape(split, strides.end()), {}};
    // The numbers of a place lie side by side.
    const auto bytes = (std::inner_product(part.strides.begin(), part.strides.end(), block_.begin(), i64{1},
                                           std::plus<>(), [](i64 s, i64 n) { return s * (n - 1); })) *
                       static_cast<i64>(sizeof(float));
    std::map<std::string_view, i64> first;  // the first place of the same numbers
    for (IndexWalker at(Shape(added.scores.begin(), added.scores.end() - std::ssize(block_))); !at.done(); at.next()) {
      const auto place = at.offset(outer);
      const std::string_view numbers(reinterpret_cast<const char*>(part.from + place), static_cast<std::size_t>(bytes));
      part.places.push_back(first.try_emplace(numbers, place).first->second);
    }
    parts_.push_back(std::move(part));
  }

  /// Which batches are alike: numbers from 0 on.
  std::vector<i64> kinds() const {
    std::map<std::vector<i64>, i64> known;
    std::vector<i64> kinds;
    for (i64 b = 0; b < batches_; ++b) kinds.push_back(known.try_emplace(places(b), std::ssize(known)).first->second);
    return kinds;
  }

  /// Adds a batch's constants to a block of sums.
  void sum(i64 batch, float* to) const {
    for (const auto& part : parts_) {
      const auto* from = part.from + part.places[batch];
      i64 i = 0;
      for (IndexWalker at(block_); !at.done(); at.next()) to[i++] += from[at.offset(part.strides)];
    }
  }

 private:
  struct Part {
    const float* from;
    Shape strides;            // of the block
    std::vector<i64> places;  // of each batch
  };
  std::vector<i64> places(i64 batch) const {
    std::vector<i64> all;
    for (const auto& part : parts_) all.push_back(part.places[batch]);
    return all;
  }

  Shape block_;
  i64 batches_;
  std::vector<Part> parts_;
};

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
  constexpr i64 kMostSums = 16 << 20;
  const auto& facts = graph.fact(v).shape;
  if (!is_inner(graph, v, users) || graph.type(v.node) != "Reshape" || !facts.is_static()) return std::nullopt;
  const auto scores = facts.to_shape();
  const auto& wide = graph.fact(graph.input(v.node, 0)).shape;
  if (scores.rank() < 3 || scores.count() == 0 || !wide.is_static()) return std::nullopt;
  ConstantsByBatch constants(scores, std::min<i64>(scores.rank() - 1, 3));
  if (!constants.has_blocks(wide.to_shape())) return std::nullopt;
  AddedConstants result{{v.node}, {}, {}, graph.input(v.node, 0)};
  auto& [nodes, sums, kinds, from] = result;
  const auto add = [&](const Shape& shape) {
    const auto added = added_constant(graph, from, nodes.back(), shape);
    if (!added) return false;
    constants.add(*added);
    nodes.push_back(from.node);
    from = added->to;
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
  kinds = constants.kinds();
  const auto count = *std::max_element(kinds.begin(), kinds.end()) + 1;
  if (count > kMostSums / constants.block()) return std::nullopt;
  sums.resize(count * constants.block());
  for (i64 kind = 0; kind < count; ++kind) {
    const auto batch = std::find(kinds.begin(), kinds.end(), kind) - kinds.begin();
    constants.sum(batch, sums.data() + kind * constants.block());
  }
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
