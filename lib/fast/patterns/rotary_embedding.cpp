// Rotary embedding as models spell it out, in f32: x · cos + turned(x) · sin, where turned(x) has the halves of each
// row exchanged and the first negated (Llama), or every two neighbors (GPT-J). Also where only the first columns are
// turned and the others joined to them (GPT-NeoX). x is read through the Transpose that puts heads before rows, which
// may be behind it as well, before each product.
#include <algorithm>
#include <array>

#include "fast/kernels/elementwise/rotary.hpp"
#include "fast/kit/broadcasting.hpp"
#include "fast/kit/functions.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast::patterns::rotary_embedding {
namespace {

/// Axis i of a rank of 4, where `v` may have fewer.
i64 dim(const View& v, i64 i) {
  i -= 4 - v.rank();
  return i < 0 ? 1 : v.dim(i);
}

class RotaryEmbedding final : public Kernel {
 public:
  /// `heads_inside`: x is [batch, rows, heads, columns].
  RotaryEmbedding(i64 turned, bool neighbors, bool heads_inside)
      : turned_(turned), neighbors_(neighbors), heads_inside_(heads_inside) {}

  std::string name() const override { return neighbors_ ? "rotary_embedding+neighbors" : "rotary_embedding"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto& x = sizes.in[0];
    const auto s = shape_of(x);
    const auto fits = [&](const View& table) {
      const i64 dims[] = {s.batch, s.heads, s.rows};
      for (i64 i = 0; i < 3; ++i)
        if (dim(table, i) != 1 && dim(table, i) != dims[i]) return false;
      return table.rank() <= 4 && dim(table, 3) == s.turned;
    };
    const bool good = x.rank() >= 3 && x.rank() <= 4 && s.turned <= s.columns && fits(sizes.in[1]) &&
                      fits(sizes.in[2]) && sizes.out[0].size() == x.size() && sizes.out[0].rank() == x.rank();
    return good ? std::make_unique<KernelState>() : nullptr;
  }

  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    const auto s = shape_of(in[0]);
    const auto row = heads_inside_ ? s.heads * s.columns : s.columns;
    const RowsOfHeads x{.data = in[0].as<const float>(),
                        .batch = s.heads * s.rows * s.columns,
                        .head = heads_inside_ ? s.columns : s.rows * s.columns,
                        .row = row};
    rotary(s, x, table(in[1]), table(in[2]), out[0].as<float>(), runtime.pool());
  }

 private:
  RotaryShape shape_of(const View& x) const {
    return {.batch = dim(x, 0),
            .heads = dim(x, heads_inside_ ? 2 : 1),
            .rows = dim(x, heads_inside_ ? 1 : 2),
            .columns = dim(x, 3),
            .turned = turned_,
            .neighbors = neighbors_};
  }
  static RowsOfHeads table(const View& v) {
    const auto columns = dim(v, 3), rows = dim(v, 2), heads = dim(v, 1);
    return {.data = v.as<const float>(),
            .batch = dim(v, 0) == 1 ? 0 : heads * rows * columns,
            .head = heads == 1 ? 0 : rows * columns,
            .row = rows == 1 ? 0 : columns};
  }

  i64 turned_;
  bool neighbors_, heads_inside_;
};

bool same(ValueRef a, ValueRef b) { return a.node == b.node && a.port == b.port; }

/// The length of a value's last axis.
std::optional<i64> columns_of(const Graphlet& graph, ValueRef v) {
  const auto& shape = graph.fact(v).shape;
  if (!is_f32(graph, v) || !shape.has_rank() || shape.rank() == 0 || !shape[shape.rank() - 1].is_static())
    return std::nullopt;
  return shape[shape.rank() - 1].length();
}

bool is_last_axis(const Graphlet& graph, ValueRef v, i64 axis) {
  const auto& shape = graph.fact(v).shape;
  return shape.has_rank() && (axis == -1 || axis == shape.rank() - 1);
}

std::optional<i64> one_number(const Graphlet& graph, ValueRef v) {
  const auto* t = graph.constant(v);
  if (!t || t->size() != 1 || (t->type() != ElementType::i32 && t->type() != ElementType::i64)) return std::nullopt;
  return to_i64(*t)[0];
}

/// Columns of another value: first, first + step, …
struct Columns {
  ValueRef from;
  i64 first = 0, count = 0, step = 1;
};

/// What a Slice, Split or VariadicSplit gives at this output.
std::optional<Columns> columns_in(const Graphlet& graph, ValueRef v) {
  if (v.node < 0) return std::nullopt;
  const auto type = graph.type(v.node);
  if (type != "Slice" && type != "Split" && type != "VariadicSplit") return std::nullopt;
  Columns part{.from = graph.input(v.node, 0)};
  const auto length = columns_of(graph, part.from), count = columns_of(graph, v);
  if (!length || !count) return std::nullopt;
  part.count = *count;
  const auto axis = one_number(graph, graph.input(v.node, type == "Slice" ? 4 : 1));
  if (!axis || !is_last_axis(graph, v, *axis)) return std::nullopt;
  if (type == "Slice") {
    const auto start = one_number(graph, graph.input(v.node, 1)), step = one_number(graph, graph.input(v.node, 3));
    if (!start || !step || *step < 1) return std::nullopt;
    part.first = std::clamp<i64>(*start < 0 ? *start + *length : *start, 0, *length);
    part.step = *step;
    return part;
  }
  for (int port = 0; port < v.port; ++port) {
    const auto before = columns_of(graph, {v.node, port});
    if (!before) return std::nullopt;
    part.first += *before;
  }
  return part;
}

/// Every part of a Split is wanted, of a Slice the one.
bool is_whole(const Graphlet& graph, int node, int parts) {
  return graph.type(node) == "Slice" || std::ssize(graph.node(node).layer->outputs) == parts;
}

/// What is negated: the input of Negative, or of a Multiply by -1.
std::optional<ValueRef> negated(const Graphlet& graph, ValueRef v) {
  const auto type = graph.type(v.node);
  if (type == "Negative") return graph.input(v.node, 0);
  for (const int port : {0, 1})
    if (type == "Multiply")
      if (const auto* t = graph.constant(graph.input(v.node, port));
          t && t->type() == ElementType::f32 && t->size() == 1 && *t->data<float>() == -1)
        return graph.input(v.node, 1 - port);
  return std::nullopt;
}

/// The nodes that turn `x`, and how often they read it.
struct Turn {
  std::vector<int> nodes;
  ValueRef x;
  int reads = 0;
  i64 columns = 0;
  bool neighbors = false;
};

/// An inner value: the node that gives it, -1 where it is another's, too.
int inner(const Graphlet& graph, ValueRef v, int user) {
  return v.node >= 0 && v.port == 0 && graph.only_user(v) == user && !graph.type(v.node).empty() ? v.node : -1;
}

std::optional<Turn> turn_of(const Graphlet& graph, ValueRef v, int user) {
  Turn turn;
  auto node = inner(graph, v, user);
  // Halves, or neighbors, may be stacked along an axis of their own first, which a Reshape joins to the columns.
  const bool stacked = graph.type(node) == "Reshape";
  if (stacked) {
    turn.nodes.push_back(node);
    node = inner(graph, graph.input(node, 0), node);
  }
  if (graph.type(node) != "Concat" || graph.node(node).inputs.size() != 2) return std::nullopt;
  const auto& joined = graph.fact({node, 0}).shape;
  if (!joined.has_rank()) return std::nullopt;
  const auto own_axis = graph.attrs<ConcatAttrs>(node).axis;
  const auto axis = own_axis < 0 ? own_axis + joined.rank() : own_axis;
  turn.neighbors = stacked && axis == joined.rank() - 1;
  if (axis != joined.rank() - 1 && !(stacked && axis == joined.rank() - 2)) return std::nullopt;
  turn.nodes.push_back(node);
  Columns parts[2];
  int makers[2];
  for (const int i : {0, 1}) {
    auto part = graph.input(node, i);
    int reader = node;
    const auto enter = [&] {
      reader = part.node;
      turn.nodes.push_back(reader);
    };
    if (stacked) {
      if (graph.type(inner(graph, part, reader)) != "Unsqueeze") return std::nullopt;
      const auto axes = constant_axes(graph, graph.input(part.node, 1), joined.rank());
      if (!axes || axes->size() != 1 || axes->front() != axis) return std::nullopt;
      enter();
      part = graph.input(reader, 0);
    }
    if (i == 0) {
      if (inner(graph, part, reader) < 0) return std::nullopt;
      const auto positive = negated(graph, part);
      if (!positive) return std::nullopt;
      enter();
      part = *positive;
    }
    const auto columns = columns_in(graph, part);
    if (!columns || graph.only_user(part) != reader) return std::nullopt;
    parts[i] = *columns;
    makers[i] = part.node;
  }
  turn.x = parts[0].from;
  turn.columns = columns_of(graph, turn.x).value_or(0);
  const auto half = turn.columns / 2;
  const bool split = makers[0] == makers[1];
  if (!same(turn.x, parts[1].from) || turn.columns % 2 != 0 || parts[0].count != half || parts[1].count != half ||
      parts[1].first != 0 || !is_whole(graph, makers[0], split ? 2 : 1) || !is_whole(graph, makers[1], split ? 2 : 1))
    return std::nullopt;
  const auto step = turn.neighbors ? 2 : 1;
  if (parts[0].first != (turn.neighbors ? 1 : half) || parts[0].step != step || parts[1].step != step)
    return std::nullopt;
  turn.nodes.push_back(makers[0]);
  if (!split) turn.nodes.push_back(makers[1]);
  turn.reads = split ? 1 : 2;
  return turn;
}

/// The first columns of a wider value are turned, the others joined to them as they are.
void take_rest(const Graphlet& graph, Turn& turn) {
  const auto part = columns_in(graph, turn.x);
  const auto concat = graph.only_user({turn.nodes.front(), 0});
  if (!part || part->first != 0 || part->step != 1 || graph.reads(turn.x) != turn.reads ||
      graph.type(concat) != "Concat" || graph.node(concat).inputs.size() != 2 ||
      graph.input(concat, 0).node != turn.nodes.front() ||
      !is_last_axis(graph, {concat, 0}, graph.attrs<ConcatAttrs>(concat).axis))
    return;
  const auto other = graph.input(concat, 1);
  const auto rest = columns_in(graph, other);
  const auto width = columns_of(graph, part->from);
  if (!rest || !width || !same(rest->from, part->from) || graph.only_user(other) != concat ||
      rest->first != part->count || rest->step != 1 || part->count + rest->count != *width)
    return;
  const bool split = turn.x.node == other.node;
  if (!is_whole(graph, turn.x.node, split ? 2 : 1) || !is_whole(graph, other.node, split ? 2 : 1)) return;
  turn.nodes.push_back(turn.x.node);
  if (!split) turn.nodes.push_back(other.node);
  turn.nodes.push_back(concat);
  turn.x = part->from;
  turn.reads = split ? 1 : 2;
}

/// Whether a node is the Transpose that puts heads before rows.
bool moves_heads(const Graphlet& graph, int node) {
  if (graph.type(node) != "Transpose" || !is_f32(graph, graph.input(node, 0))) return false;
  const auto axes = constant_axes(graph, graph.input(node, 1), 4);
  return axes && *axes == std::vector<i64>{0, 2, 1, 3};
}

bool take_transpose(const Graphlet& graph, Turn& turn) {
  const auto node = turn.x.node;
  if (!moves_heads(graph, node) || graph.reads(turn.x) != turn.reads) return false;
  turn.nodes.push_back(node);
  turn.x = graph.input(node, 0);
  return true;
}

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto is_plain = [&](int node) { return aligns_by_numpy(graph, node) && is_f32(graph, {node, 0}); };
  if (!is_plain(root)) return std::nullopt;
  int factors[2];
  for (const int i : {0, 1}) {
    factors[i] = inner(graph, graph.input(root, i), root);
    if (graph.type(factors[i]) != "Multiply" || !is_plain(factors[i])) return std::nullopt;
  }
  for (const int straight : {0, 1})
    for (const int first : {0, 1}) {
      const auto a = factors[straight], b = factors[1 - straight];
      // What is turned, and x, may be transposed before they are multiplied.
      const auto moved = inner(graph, graph.input(b, first), b);
      const bool move_last = moves_heads(graph, moved);
      auto turn = move_last ? turn_of(graph, graph.input(moved, 0), moved) : turn_of(graph, graph.input(b, first), b);
      if (!turn) continue;
      const auto straight_of = [&](int port) {
        const auto v = graph.input(a, port);
        if (!move_last) return v;
        return moves_heads(graph, inner(graph, v, a)) ? graph.input(v.node, 0) : ValueRef{};
      };
      const int port = same(straight_of(0), turn->x) ? 0 : 1;
      const auto cosine = graph.input(a, 1 - port), sine = graph.input(b, 1 - first);
      const auto &shape = graph.fact(turn->x).shape, &out = graph.fact({root, 0}).shape;
      if (!same(straight_of(port), turn->x) || columns_of(graph, cosine) != turn->columns ||
          columns_of(graph, sine) != turn->columns || shape.rank() < 3 || shape.rank() > 4 || !out.has_rank() ||
          out.rank() != shape.rank())
        continue;
      ++turn->reads;
      turn->nodes.insert(turn->nodes.begin(), {root, a, b});
      if (move_last) turn->nodes.insert(turn->nodes.end(), {moved, graph.input(a, port).node});
      else take_rest(graph, *turn);
      const bool heads_inside = move_last || take_transpose(graph, *turn);
      std::sort(turn->nodes.begin(), turn->nodes.end());
      return Match{std::move(turn->nodes),
                   {turn->x, cosine, sine},
                   std::make_unique<RotaryEmbedding>(turn->columns, turn->neighbors, heads_inside)};
    }
  return std::nullopt;
}

constexpr std::string_view kRoots[] = {"Add"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "rotary_embedding", .roots = kRoots, .match = match, .priority = Priority::group, .groups_only = true};

}  // namespace ovir::fast::patterns::rotary_embedding
