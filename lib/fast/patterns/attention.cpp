// ScaledDotProductAttention-13 in f32, and the same as models spell it out: MatMul, a factor, a mask, Softmax, MatMul.
// Queries, keys and values are of rank 4, or 3 where there is one head, or of more, whose first axes are the batch;
// parts of one value, and keys and values that groups of heads share, are read as they are before Split, or Unsqueeze,
// Broadcast and Reshape. With Precision::bf16 the products are in bf16.
#include <algorithm>
#include <array>
#include <cmath>

#include "fast/kernels/attention/attention.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/heads.hpp"
#include "op/kit/elementwise_attrs.hpp"
#include "op/shared_attrs.hpp"
#include "tensor/walk.hpp"

namespace ovir::fast::patterns::attention {
namespace {

HeadView view_of(const View& v, const HeadAxes& a) {
  i64 strides[5], stride = 1;
  for (i64 axis = a.rank - 1; axis >= 0; --axis) {
    strides[axis] = stride;
    if (axis == a.part_axis) stride *= v.dim(axis);
    else stride *= axis == a.axes[2] && v.room > 0 ? v.room : a.dim(v, axis);
  }
  // One batch of keys and values may be for all.
  HeadView view{.batch = a.dim(v, a.axes[0]) == 1 ? 0 : strides[a.axes[0]],
                .head = strides[a.axes[1]],
                .row = strides[a.axes[2]],
                .column = strides[a.axes[3]]};
  const auto first = a.part_axis < 0 ? 0 : a.first * strides[a.part_axis];
  if (v.type == ElementType::f32) view.data = v.as<const float>() + first;
  else view.narrow = reinterpret_cast<const std::uint16_t*>(v.data) + first;
  return view;
}

HeadPlace place_of(const View& v, const HeadAxes& axes) {
  const auto at = view_of(v, axes);
  HeadPlace place{.batch = at.batch, .head = at.head, .row = at.row};
  if (v.type == ElementType::f32) place.wide = reinterpret_cast<float*>(v.data);
  else place.narrow = reinterpret_cast<std::uint16_t*>(v.data);
  return place;
}

MaskView mask_of(const View& v) {
  const HeadDims d(v, {});
  MaskView m{.batch = d.batch == 1 ? 0 : d.heads * d.rows * d.columns,
             .head = d.heads == 1 ? 0 : d.rows * d.columns,
             .row = d.rows == 1 ? 0 : d.columns,
             .column = d.columns == 1 ? 0 : 1};
  if (v.type == ElementType::boolean) m.seen = v.as<const unsigned char>();
  else m.added = v.as<const float>();
  return m;
}

/// How operands lie: queries, keys and values, and the output.
struct Places {
  HeadAxes q, k, v, out;
};

bool is_column_inside(const HeadAxes& a) { return a.axes[3] == a.rank - 1; }

/// What the kernel takes of the model around a product of queries and keys.
struct Around {
  Places places{};
  bool masked = false;
  bool grouped = false;          ///< several heads of queries share one of keys and values
  bool several = false;          ///< there must be several keys
  bool bf16 = false;             ///< multiplies in bf16
  std::vector<float> factors{};  ///< of the scores: one for all, or one a head; none: 1/√depth
  std::vector<float> added{};    ///< to each of them: a mask that is known; empty: none
};

class AttentionKernel final : public Kernel {
 public:
  /// `transposed_keys`: [depth][keys].
  AttentionKernel(bool causal, bool transposed_keys, Around around)
      : causal_(causal),
        factors_(std::move(around.factors)),
        added_(std::move(around.added)),
        places_(around.places),
        masked_(around.masked),
        grouped_(around.grouped),
        several_(around.several),
        bf16_(around.bf16) {
    if (transposed_keys) std::swap(places_.k.axes[2], places_.k.axes[3]);
  }

  std::string name() const override {
    const bool parts = places_.q.part_axis >= 0 || places_.k.part_axis >= 0 || places_.v.part_axis >= 0;
    return std::string(bf16_ ? "bf16.attention" : "attention") + (grouped_ ? "+groups" : "") + (parts ? "+parts" : "");
  }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    const auto rank = [&](int input, const HeadAxes& a) { return sizes.in[input].rank() + 4 - a.rank; };
    if (!places_.q.fits(sizes.in[0]) || !places_.k.fits(sizes.in[1]) || !places_.v.fits(sizes.in[2]) ||
        rank(1, places_.k) != rank(0, places_.q) || rank(2, places_.v) != rank(0, places_.q))
      return nullptr;
    const HeadDims q(sizes.in[0], places_.q), k(sizes.in[1], places_.k), v(sizes.in[2], places_.v);
    AttentionShape s{.batch = q.batch,
                     .heads = q.heads,
                     .kv_heads = k.heads,
                     .queries = q.rows,
                     .keys = k.rows,
                     .depth = q.columns,
                     .value_depth = v.columns};
    // Heads and batches that are broadcast otherwise, and masks of some of the first axes are for the reference kernel.
    const bool shared =
        grouped_ ? s.kv_heads > 0 && s.heads % s.kv_heads == 0 : s.kv_heads == s.heads || s.kv_heads == 1;
    const auto mask_batch = masked_ ? HeadDims(sizes.in[3], {}).batch : 1;
    if (!shared || v.heads != s.kv_heads || (k.batch != s.batch && k.batch != 1) || v.batch != k.batch || s.keys == 0 ||
        (several_ && s.keys == 1) || s.depth == 0 || k.columns != s.depth || v.rows != s.keys ||
        (mask_batch != s.batch && mask_batch != 1) ||
        sizes.out[0].size() != s.batch * s.heads * s.queries * s.value_depth)
      return nullptr;
    s.causal = causal_;
    s.bf16 = bf16_;
    const auto scores = s.batch * s.heads * s.queries * s.keys;
    if ((factors_.size() > 1 && std::ssize(factors_) != s.heads) || (!added_.empty() && std::ssize(added_) != scores))
      return nullptr;
    s.scale = factors_.empty() ? static_cast<float>(1 / std::sqrt(static_cast<double>(s.depth))) : factors_.front();
    if (factors_.size() > 1) s.scales = factors_.data();
    const auto is_wide = [](const View& view) { return view.type == ElementType::f32; };
    const bool plain = is_wide(sizes.in[0]) && is_wide(sizes.in[1]) && is_wide(sizes.in[2]) && is_wide(sizes.out[0]) &&
                       is_column_inside(places_.k);
    auto state = std::make_unique<State>();
    state->shape = s;
    state->scores = state->reserve(attention_scratch_size(s, plain, runtime.threads()));
    state->pieces = attention_pieces(s, plain, runtime.threads());
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    fast::attention(state.shape, view_of(in[0], places_.q), view_of(in[1], places_.k), view_of(in[2], places_.v),
                    mask(state.shape, in), place_of(out[0], places_.out), state.floats(state.scores), runtime.pool());
  }

  i64 pieces(const KernelState& state) const override { return static_cast<const State&>(state).pieces; }
  void run_pieces(KernelState& prepared, std::span<const View> in, std::span<const View> out, i64 begin, i64 end,
                  int thread) const override {
    auto& state = static_cast<State&>(prepared);
    attention_alone(state.shape, view_of(in[0], places_.q), view_of(in[1], places_.k), view_of(in[2], places_.v),
                    mask(state.shape, in), place_of(out[0], places_.out), state.floats(state.scores), begin, end,
                    thread);
  }

  bool reads_grown(int input, i64 axis) const override {
    const auto grows = [&](const HeadAxes& a) { return a.part_axis < 0 && axis == a.axes[2] - a.rank; };
    return (input == 1 && grows(places_.k)) || (input == 2 && grows(places_.v));
  }
  bool reads_as(int input, ElementType type, Layout layout) const override {
    return writes_as(type, layout) && input < 3 && (input != 1 || is_column_inside(places_.k));
  }
  bool writes_as(ElementType type, Layout layout) const override {
    return bf16_ && type == ElementType::bf16 && layout == Layout::plain;
  }

 private:
  struct State final : KernelState {
    AttentionShape shape;
    Scratch scores;
    i64 pieces = 0;
  };
  MaskView mask(const AttentionShape& s, std::span<const View> in) const {
    if (masked_) return mask_of(in[3]);
    if (added_.empty()) return {};
    const auto head = s.queries * s.keys;
    return {.added = added_.data(), .batch = s.heads * head, .head = head, .row = s.keys, .column = 1};
  }

  bool causal_;
  std::vector<float> factors_, added_;
  Places places_;
  bool masked_, grouped_, several_, bf16_;
};

bool is_mask(const Graphlet& graph, ValueRef v) { return is_f32(graph, v) || graph.stored(v) == ElementType::boolean; }

bool is_same(const Dim& a, const Dim& b) {
  if (a.is_static() && b.is_static()) return a.length() == b.length();
  return a.symbol != 0 && a.symbol == b.symbol;
}

/// Whether two values have the same static shape.
bool has_shape_of(const Graphlet& graph, ValueRef a, ValueRef b) {
  const auto &x = graph.fact(a).shape, &y = graph.fact(b).shape;
  return x.is_static() && y.is_static() && x.to_shape() == y.to_shape();
}

/// Heads that are repeated, from the last node backwards: Reshape, Broadcast, Unsqueeze.
struct Repetition {
  std::vector<int> nodes;
  ValueRef from;           ///< [batch, heads, rows, columns] that are repeated
  ValueRef lengths;        ///< of the Broadcast
  bool rows_known = true;  ///< that the Broadcast leaves their number
};

/// Whether a Reshape by a constant leaves the first axis as it is.
bool keeps_first(const Graphlet& graph, int reshape) {
  const auto* pattern = graph.constant(graph.input(reshape, 1));
  const auto& to = graph.fact({reshape, 0}).shape[0];
  const bool empty = to.is_static() && to.length() == 0;  // what a 0 may mean
  return pattern && pattern->size() > 0 && to_i64(*pattern)[0] == 0 && !empty;
}

std::optional<Repetition> repetition_of(const Graphlet& graph, ValueRef v, int user) {
  Repetition r;
  for (const auto type : {"Reshape", "Broadcast", "Unsqueeze"}) {
    if (v.node < 0 || graph.type(v.node) != type || graph.only_user(v) != user) return std::nullopt;
    user = v.node;
    r.nodes.push_back(user);
    v = graph.input(user, 0);
  }
  r.from = v;
  r.lengths = graph.input(r.nodes[1], 1);
  const auto axes = constant_axes(graph, graph.input(r.nodes[2], 1), 5);
  const auto &from = graph.fact(v).shape, &wide = graph.fact({r.nodes[1], 0}).shape,
             &to = graph.fact({r.nodes[0], 0}).shape;
  if (!axes || *axes != std::vector<i64>{2} || !graph.constant(graph.input(r.nodes[0], 1)) || !is_f32(graph, v) ||
      !from.has_rank() || from.rank() != 4 || !wide.has_rank() || wide.rank() != 5 || !to.has_rank() || to.rank() != 4)
    return std::nullopt;
  // That rows stay rows follows from their number. Batches that are not known are judged by prepare(): those of the
  // output tell. Nor are rows, of which one may become many; several cannot.
  const bool keeps_batch = is_same(wide[0], to[0]) || keeps_first(graph, r.nodes[0]);
  r.rows_known = is_same(from[2], wide[3]);
  const bool repeats = from[0].compatible(wide[0]) && keeps_batch && is_same(from[1], wide[1]) &&
                       from[2].compatible(wide[3]) && is_same(from[3], wide[4]) && is_same(from[3], to[3]) &&
                       wide[1].is_static() && wide[2].is_static() && to[1].is_static() && to[3].is_static() &&
                       to[1].length() == wide[1].length() * wide[2].length();
  return repeats ? std::optional(std::move(r)) : std::nullopt;
}

/// Reads keys and values before heads are repeated, where both are.
void take_repetitions(const Graphlet& graph, std::array<ValueRef, 3>& qkv, std::array<int, 2>& users, Around& around,
                      std::vector<int>& nodes, std::vector<ValueRef>& others) {
  const auto keys = repetition_of(graph, qkv[1], users[0]), values = repetition_of(graph, qkv[2], users[1]);
  if (!keys || !values) return;
  around.grouped = true;
  around.several = !keys->rows_known || !values->rows_known;
  qkv[1] = keys->from;
  qkv[2] = values->from;
  users = {keys->nodes.back(), values->nodes.back()};
  for (const auto* r : {&*keys, &*values}) {
    nodes.insert(nodes.end(), r->nodes.begin(), r->nodes.end());
    if (!graph.constant(r->lengths)) others.push_back(r->lengths);
  }
}

/// The kernel for these nodes, the last of which gives the output, with what is around them. `q`, `k` and `v` are read
/// by `first` and `first` and `last` in turn.
Match attention_match(const Graphlet& graph, std::vector<int> nodes, std::array<ValueRef, 3> qkv, ValueRef mask,
                      int first, bool causal, bool transposed_keys, std::vector<float> factors,
                      std::vector<float> added = {}) {
  const auto last = nodes.back();
  Around around{.masked = mask.node >= 0,
                .bf16 = graph.options().precision == Precision::bf16,
                .factors = std::move(factors),
                .added = std::move(added)};
  std::array<int, 2> users{first, last};
  std::vector<ValueRef> others;
  if (!transposed_keys) take_repetitions(graph, qkv, users, around, nodes, others);
  std::array<HeadOperand, 3> operands{{{qkv[0], first, true}, {qkv[1], users[0], false}, {qkv[2], users[1], true}}};
  for (auto& operand : operands) take_transpose(graph, operand, nodes);
  take_parts(graph, operands, nodes);
  around.places = {operands[0].axes, operands[1].axes, operands[2].axes, {}};
  auto next = graph.only_user({last, 0});
  const bool same = graph.type(next) == "Reshape" && has_shape_of(graph, {next, 0}, {last, 0});
  if (same) next = graph.only_user({next, 0});
  if (const auto order = order_of(graph, next); order && *order == kHeadsInside.axes) {
    around.places.out = kHeadsInside;
    if (same) nodes.push_back(graph.input(next, 0).node);
    nodes.push_back(next);
  }
  std::sort(nodes.begin(), nodes.end());
  Match match{std::move(nodes), {operands[0].value, operands[1].value, operands[2].value}, nullptr};
  if (mask.node >= 0) match.inputs.push_back(mask);
  match.inputs.insert(match.inputs.end(), others.begin(), others.end());
  match.kernel = std::make_unique<AttentionKernel>(causal, transposed_keys, std::move(around));
  return match;
}

std::optional<Match> match_operation(const Graphlet& graph, int root) {
  const auto q = graph.input(root, 0), k = graph.input(root, 1), v = graph.input(root, 2), mask = graph.input(root, 3),
             scale = graph.input(root, 4);
  const bool causal = graph.attrs<ScaledDotProductAttentionAttrs>(root).causal;
  if (!is_f32(graph, q) || !is_f32(graph, k) || !is_f32(graph, v) || !is_f32(graph, {root, 0})) return std::nullopt;
  std::vector<float> factor;
  if (scale.node >= 0) {
    const auto* t = graph.constant(scale);
    if (!t || t->type() != ElementType::f32 || t->size() != 1) return std::nullopt;
    factor.push_back(*t->data<float>());
  }
  // A causal attention does not look at its mask.
  const bool masked = mask.node >= 0 && !causal;
  if (masked && !is_mask(graph, mask)) return std::nullopt;
  return attention_match(graph, {root}, {q, k, v}, masked ? mask : ValueRef{}, root, causal, false, factor);
}

/// The number that a Multiply or Divide applies to its input 0, or those of a Multiply by head; empty where it applies
/// something else than constants.
std::vector<float> factors_of(const Graphlet& graph, int node) {
  const auto* t = graph.constant(graph.input(node, 1));
  if (!t || t->type() != ElementType::f32 || t->size() == 0) return {};
  const std::span values(t->data<float>(), t->size());
  if (t->size() == 1 && graph.type(node) == "Divide") return {1 / values[0]};
  if (graph.type(node) != "Multiply") return {};
  const auto& scores = graph.fact({node, 0}).shape;
  const bool by_head = scores.has_rank() && scores.rank() == 4 && t->rank() >= 3 && t->rank() <= 4 &&
                       t->dim(t->rank() - 3) == t->size() &&
                       graph.attrs<BroadcastAttrs>(node).rule().kind != AutoBroadcast::pdpd;
  return t->size() == 1 || by_head ? std::vector(values.begin(), values.end()) : std::vector<float>();
}

/// A value that only `user` reads, of a node that may be taken.
bool is_inner(const Graphlet& graph, ValueRef v, int user) {
  return v.node >= 0 && v.port == 0 && is_f32(graph, v) && graph.only_user(v) == user && !graph.type(v.node).empty();
}

/// A product that only `user` reads, or one times a factor.
bool leads_to_product(const Graphlet& graph, ValueRef v, int user) {
  if (!is_inner(graph, v, user)) return false;
  if (factors_of(graph, v.node).empty()) return graph.type(v.node) == "MatMul";
  const auto product = graph.input(v.node, 0);
  return is_inner(graph, product, v.node) && graph.type(product.node) == "MatMul";
}

/// What constants add to scores, at last, as those of windows that are shifted have it: a bias, then masks behind a
/// Reshape that splits the windows off, and one that undoes it.
struct AddedConstants {
  std::vector<int> nodes;  ///< from the last one backwards
  std::vector<float> sum;  ///< as many as there are scores
  ValueRef from;
};

/// Adds the constant operand of an Add to `sum`, of this shape, and gives the other operand; nothing where it has none.
std::optional<ValueRef> add_constant(const Graphlet& graph, ValueRef v, int user, const Shape& shape,
                                     std::vector<float>& sum) {
  if (!is_inner(graph, v, user) || graph.type(v.node) != "Add" ||
      graph.attrs<BroadcastAttrs>(v.node).rule().kind == AutoBroadcast::pdpd)
    return std::nullopt;
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

std::optional<AddedConstants> added_constants(const Graphlet& graph, ValueRef v, int user) {
  constexpr i64 kMostScores = 4 << 20;  // of which all have a number of their own
  const auto& facts = graph.fact(v).shape;
  if (!is_inner(graph, v, user) || graph.type(v.node) != "Reshape" || !facts.is_static()) return std::nullopt;
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

/// From the Softmax on, backwards to the scores and on to the values.
std::optional<Match> match_spelled_out(const Graphlet& graph, int root) {
  const auto values = graph.only_user({root, 0});
  const auto& scores = graph.fact({root, 0}).shape;
  if (graph.type(values) != "MatMul" || graph.input(values, 0).node != root || !scores.has_rank() || scores.rank() < 3)
    return std::nullopt;
  const auto axis = graph.attrs<SoftmaxAttrs>(root).axis;
  const auto& last = graph.attrs<MatMulAttrs>(values);
  if ((axis != -1 && axis != scores.rank() - 1) || last.transpose_a || last.transpose_b) return std::nullopt;
  std::vector<int> nodes{values, root};
  auto v = graph.input(root, 0);
  ValueRef mask;
  std::vector<float> added;
  const auto add = v.node;
  if (auto constants = added_constants(graph, v, root)) {
    nodes.insert(nodes.end(), constants->nodes.begin(), constants->nodes.end());
    added = std::move(constants->sum);
    v = constants->from;
  } else if (is_inner(graph, v, root) && graph.type(add) == "Add" &&
             graph.attrs<BroadcastAttrs>(add).rule().kind != AutoBroadcast::pdpd) {
    const int from = leads_to_product(graph, graph.input(add, 0), add) ? 0 : 1;
    v = graph.input(add, from);
    mask = graph.input(add, 1 - from);
    if (!is_f32(graph, mask) || !graph.fact(mask).shape.has_rank() || graph.fact(mask).shape.rank() > scores.rank())
      return std::nullopt;
    nodes.push_back(add);
  }
  std::vector<float> factors{1};
  if (is_inner(graph, v, nodes.back()))
    if (auto own = factors_of(graph, v.node); !own.empty()) {
      factors = std::move(own);
      nodes.push_back(v.node);
      v = graph.input(v.node, 0);
    }
  if (!is_inner(graph, v, nodes.back()) || graph.type(v.node) != "MatMul") return std::nullopt;
  const auto& first = graph.attrs<MatMulAttrs>(v.node);
  nodes.push_back(v.node);
  const auto q = graph.input(v.node, 0), k = graph.input(v.node, 1), w = graph.input(values, 1);
  // Heads and batches that are broadcast are for the single products.
  const auto fits = [&](ValueRef o) {
    const auto& shape = graph.fact(o).shape;
    if (!is_f32(graph, o) || !shape.has_rank() || shape.rank() != scores.rank()) return false;
    for (i64 i = 0; i + 2 < shape.rank(); ++i)
      if (shape[i].is_static() && scores[i].is_static() && shape[i].length() != scores[i].length()) return false;
    return true;
  };
  if (first.transpose_a || !fits(q) || !fits(k) || !fits(w)) return std::nullopt;
  std::sort(nodes.begin(), nodes.end());
  return attention_match(graph, nodes, {q, k, w}, mask, nodes.front(), false, !first.transpose_b, std::move(factors),
                         std::move(added));
}

std::optional<Match> match(const Graphlet& graph, int root) {
  return graph.type(root) == "Softmax" ? match_spelled_out(graph, root) : match_operation(graph, root);
}

constexpr std::string_view kRoots[] = {"ScaledDotProductAttention", "Softmax"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "attention", .roots = kRoots, .match = match, .priority = Priority::packed};

}  // namespace ovir::fast::patterns::attention
