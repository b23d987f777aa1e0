// ScaledDotProductAttention-13 in f32, and the same as models spell it out: MatMul or Einsum (kit/head_products), a
// factor, masks that are added or by which a Select hides scores (kit/score_masks), Softmax (kit/softmax), MatMul or
// Einsum, with IsNaN and Select, or the mask's Select once more, behind the Softmax where a query that sees no key gets
// zeros. Queries, keys and values are of rank 4, or 3 where there is one head, or of more, whose first axes are the
// batch; those of Einsums have their axes in any order. They are read as they are before Transposes and factors, before
// batch and heads are joined, and before Split, Slice or Gather, or Unsqueeze, Broadcast and Reshape, where they are
// parts of one value, or keys and values that groups of heads share (kit/heads). With Precision::bf16 the products are
// in bf16.
#include <algorithm>
#include <array>
#include <cmath>

#include "fast/kernels/attention/attention.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/head_places.hpp"
#include "fast/kit/head_products.hpp"
#include "fast/kit/heads.hpp"
#include "fast/kit/score_masks.hpp"
#include "fast/kit/softmax.hpp"
#include "fast/kit/spelled_out.hpp"
#include "op/kit/elementwise_attrs.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast::patterns::attention {
namespace {

HeadView at(const View& v, HeadView view, i64 first) {
  if (v.type == ElementType::f32) view.data = v.as<const float>() + first;
  else view.narrow = reinterpret_cast<const std::uint16_t*>(v.data) + first;
  return view;
}

HeadView view_of(const View& v, const HeadAxes& a) {
  if (a.places) {
    const auto& [lengths, s, offset, size] = *a.places;
    return at(v, {.batch = lengths[0] == 1 ? 0 : s[0], .head = s[1], .row = s[2], .column = s[3]}, offset);
  }
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
  return at(v, view, a.part_axis < 0 ? 0 : a.first * strides[a.part_axis]);
}

HeadPlace place_of(const View& v, const HeadAxes& axes) {
  const auto at = view_of(v, axes);
  HeadPlace place{.batch = at.batch, .head = at.head, .row = at.row};
  if (v.type == ElementType::f32) place.wide = reinterpret_cast<float*>(v.data);
  else place.narrow = reinterpret_cast<std::uint16_t*>(v.data);
  return place;
}

MaskView mask_of(const View& v, const ScoreAxes& scores) {
  const HeadDims d(v, scores);
  MaskView m{.batch = d.batch == 1 ? 0 : d.heads * d.rows * d.columns,
             .head = d.heads == 1 ? 0 : d.rows * d.columns,
             .row = d.rows == 1 ? 0 : d.columns,
             .column = d.columns == 1 ? 0 : 1};
  if (v.type == ElementType::boolean) m.seen = v.as<const unsigned char>();
  else m.added = v.as<const float>();
  return m;
}

SinkView sink_of(const View& v, const ScoreAxes& scores) {
  const HeadDims d(v, scores);
  return {.data = v.as<const float>(),
          .batch = d.batch == 1 ? 0 : d.heads * d.rows,
          .head = d.heads == 1 ? 0 : d.rows,
          .row = d.rows == 1 ? 0 : 1};
}

/// One that has a number for each score.
MaskView whole_mask(const AttentionShape& s, const float* added) {
  const auto head = s.queries * s.keys;
  return {.added = added, .batch = s.heads * head, .head = head, .row = s.keys, .column = 1};
}

/// Numbers by row and by column of the grid of keys.
MaskView grid_of(const AttentionShape& s, const View& by_row, const View& by_column, i64 columns) {
  return {.grid = {by_row.as<const float>(), by_column.as<const float>(), s.keys / columns, columns},
          .batch = s.heads * s.queries,
          .head = s.queries,
          .row = 1};
}

/// The sum of two masks of f32, a number for each score.
void add_masks(const AttentionShape& s, const MaskView& a, const MaskView& b, float* to, ThreadPool& pool) {
  parallel_ranges(pool, s.batch * s.heads * s.queries, static_cast<double>(s.keys) / 8, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto query = i % s.queries, head = i / s.queries % s.heads, batch = i / s.queries / s.heads;
      isa().binary(Binary::add, a.at(batch, head, query).added, a.column, b.at(batch, head, query).added, b.column,
                   to + i * s.keys, s.keys);
    }
  });
}

/// How operands lie: queries, keys and values, and the output.
struct Places {
  HeadAxes q, k, v, out;
};

bool is_column_inside(const HeadAxes& a) { return a.places ? a.places->strides[3] == 1 : a.axes[3] == a.rank - 1; }
bool is_part(const HeadAxes& a) { return a.places || a.part_axis >= 0; }

/// Operands that may be added to the scores; two are added up before.
constexpr std::size_t kMasks = 2;

/// What the kernel takes of the model around a product of queries and keys.
struct Around {
  Places places{};
  int masks = 0;
  ScoreAxes scores{};  ///< which masks have
  bool causal = false;
  bool sunk = false;             ///< a sink comes behind the masks
  bool grouped = false;          ///< several heads of queries share one of keys and values
  bool several = false;          ///< there must be several keys
  bool bf16 = false;             ///< multiplies in bf16
  bool nan_is_zero = false;      ///< probabilities that are NaN
  bool unseen_is_zero = false;   ///< probabilities where a mask hides all keys
  std::vector<float> factors{};  ///< of the scores: one for all, or one a head; none: 1/√depth
  float factor = 1;              ///< of them all, too
  std::vector<float> added{};    ///< to them: masks that are known; empty: none
  std::vector<i64> kinds{};      ///< of each batch: which of those it has
  HiddenKeys hidden{};           ///< where the mask is of booleans
  i64 grid_columns = 0;          ///< of the grid in which keys lie, whose numbers are two masks; 0: there is none
};

class AttentionKernel final : public Kernel {
 public:
  explicit AttentionKernel(Around around) : around_(std::move(around)) {}

  std::string name() const override {
    const bool parts = is_part(around_.places.q) || is_part(around_.places.k) || is_part(around_.places.v);
    return std::string(around_.bf16 ? "bf16.attention" : "attention") + (around_.grouped ? "+groups" : "") +
           (parts ? "+parts" : "");
  }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    if (!around_.places.q.fits(sizes.in[0]) || !around_.places.k.fits(sizes.in[1]) ||
        !around_.places.v.fits(sizes.in[2]))
      return nullptr;
    const HeadDims q(sizes.in[0], around_.places.q), k(sizes.in[1], around_.places.k), v(sizes.in[2], around_.places.v),
        out(sizes.out[0], around_.places.out);
    AttentionShape s{.batch = q.batch,
                     .heads = q.heads,
                     .kv_heads = k.heads,
                     .queries = q.rows,
                     .keys = k.rows,
                     .depth = q.columns,
                     .value_depth = v.columns};
    // Heads and batches that are broadcast otherwise, and masks of some of the first axes are for the reference kernel.
    const bool shared =
        around_.grouped ? s.kv_heads > 0 && s.heads % s.kv_heads == 0 : s.kv_heads == s.heads || s.kv_heads == 1;
    const auto all_queries = s.batch * s.heads * s.queries, columns = around_.grid_columns;
    const auto is_broadcast = [&](const View& view, i64 length) {
      const HeadDims d(view, around_.scores);
      return (d.batch == s.batch || d.batch == 1) && (d.heads == s.heads || d.heads == 1) &&
             (d.rows == s.queries || d.rows == 1) && (d.columns == length || d.columns == 1);
    };
    const auto suits = [&](int mask) {
      if (columns > 0) return sizes.in[3 + mask].size() == all_queries * (mask == 0 ? s.keys / columns : columns);
      return mask >= around_.masks || is_broadcast(sizes.in[3 + mask], s.keys);
    };
    if (around_.sunk && !is_broadcast(sizes.in[sink()], 1)) return nullptr;
    if (!shared || v.heads != s.kv_heads || (k.batch != s.batch && k.batch != 1) || v.batch != k.batch || s.keys == 0 ||
        (around_.several && s.keys == 1) || s.depth == 0 || k.columns != s.depth || v.rows != s.keys || !suits(0) ||
        !suits(1) || out.batch != s.batch || out.heads != s.heads || out.rows != s.queries ||
        out.columns != s.value_depth)
      return nullptr;
    s.causal = around_.causal;
    s.sunk = around_.sunk;
    s.turned = !is_column_inside(around_.places.q);
    s.bf16 = around_.bf16;
    s.nan_is_zero = around_.nan_is_zero;
    s.unseen_is_zero = around_.unseen_is_zero;
    const auto scores = all_queries * s.keys;
    if ((around_.factors.size() > 1 && std::ssize(around_.factors) != s.heads) ||
        (!around_.added.empty() && !adds_known_to(s)))
      return nullptr;
    const auto by_depth = around_.factor / std::sqrt(static_cast<double>(s.depth));
    s.scale = around_.factors.empty() ? static_cast<float>(by_depth) : around_.factors.front();
    if (around_.factors.size() > 1) s.scales = around_.factors.data();
    const auto is_wide = [](const View& view) { return view.type == ElementType::f32; };
    const bool plain = is_wide(sizes.in[0]) && is_wide(sizes.in[1]) && is_wide(sizes.in[2]) && is_wide(sizes.out[0]) &&
                       !s.turned && is_column_inside(around_.places.k);
    auto state = std::make_unique<State>();
    state->shape = s;
    state->scores = state->reserve(attention_scratch_size(s, plain, runtime.threads()));
    if (adds_masks()) state->mask = state->reserve(scores);
    else state->pieces = attention_pieces(s, plain, runtime.threads());
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    if (adds_masks())
      add_masks(state.shape, mask_of(in[3], around_.scores), mask_of(in[4], around_.scores), state.floats(state.mask),
                runtime.pool());
    fast::attention(state.shape, view_of(in[0], around_.places.q), view_of(in[1], around_.places.k),
                    view_of(in[2], around_.places.v), mask(state, in), place_of(out[0], around_.places.out),
                    state.floats(state.scores), runtime.pool());
  }

  i64 pieces(const KernelState& state) const override { return static_cast<const State&>(state).pieces; }
  void run_pieces(KernelState& prepared, std::span<const View> in, std::span<const View> out, i64 begin, i64 end,
                  int thread) const override {
    auto& state = static_cast<State&>(prepared);
    attention_alone(state.shape, view_of(in[0], around_.places.q), view_of(in[1], around_.places.k),
                    view_of(in[2], around_.places.v), mask(state, in), place_of(out[0], around_.places.out),
                    state.floats(state.scores), begin, end, thread);
  }

  bool reads_grown(int input, i64 axis) const override {
    const auto grows = [&](const HeadAxes& a) {
      return !is_part(a) && a.axes[2] >= a.joined && axis == a.axes[2] - a.rank;
    };
    return (input == 1 && grows(around_.places.k)) || (input == 2 && grows(around_.places.v));
  }
  bool reads_as(int input, ElementType type, Layout layout) const override {
    return writes_as(type, layout) &&
           (input == 2 || (input < 2 && is_column_inside(input == 0 ? around_.places.q : around_.places.k)));
  }
  bool writes_as(ElementType type, Layout layout) const override {
    return around_.bf16 && type == ElementType::bf16 && layout == Layout::plain;
  }

 private:
  /// Which input it is.
  int sink() const { return 3 + around_.masks; }
  /// Whether the masks that are known are those of such scores.
  bool adds_known_to(const AttentionShape& s) const {
    const auto count = *std::max_element(around_.kinds.begin(), around_.kinds.end()) + 1;
    return std::ssize(around_.kinds) == s.batch && std::ssize(around_.added) == count * s.heads * s.queries * s.keys;
  }
  bool adds_masks() const { return around_.masks == 2 && around_.grid_columns == 0; }

  struct State final : KernelState {
    AttentionShape shape;
    Scratch scores, mask;
    i64 pieces = 0;
  };
  MaskView mask(State& state, std::span<const View> in) const {
    auto m = scores_mask(state, in);
    if (around_.sunk) m.sink = sink_of(in[sink()], around_.scores);
    return m;
  }
  MaskView scores_mask(State& state, std::span<const View> in) const {
    if (around_.masks == 1) {
      auto m = mask_of(in[3], around_.scores);
      m.hides = around_.hidden.where_true;
      m.hidden = around_.hidden.score;
      return m;
    }
    if (around_.grid_columns > 0) return grid_of(state.shape, in[3], in[4], around_.grid_columns);
    if (around_.masks == 2) return whole_mask(state.shape, state.floats(state.mask));
    if (around_.added.empty()) return {};
    auto m = whole_mask(state.shape, around_.added.data());
    m.kinds = around_.kinds.data();
    return m;
  }

  Around around_;
};

bool is_mask(const Graphlet& graph, ValueRef v) { return is_f32(graph, v) || graph.stored(v) == ElementType::boolean; }

/// Reads keys and values before heads are repeated, where both are.
void take_repetitions(const Graphlet& graph, std::array<HeadOperand, 3>& operands, Around& around, HeadWay& way) {
  const auto keys = repetition_of(graph, operands[1]), values = repetition_of(graph, operands[2]);
  if (!keys || !values) return;
  around.grouped = true;
  around.several = !keys->rows_known || !values->rows_known;
  for (const int i : {1, 2}) {
    const auto& r = i == 1 ? *keys : *values;
    operands[i] = r.from;
    way.add(r.way);
  }
}

/// The kernel for these nodes, the last of which gives the output, with what is around them; nothing where an operand
/// cannot be read.
std::optional<Match> attention_match(const Graphlet& graph, std::vector<int> nodes, std::array<HeadOperand, 3> operands,
                                     const std::vector<ValueRef>& masks, Around around) {
  std::sort(nodes.begin(), nodes.end());
  const auto last = nodes.back();
  around.masks = static_cast<int>(masks.size());
  around.bf16 = graph.options().precision == Precision::bf16;
  HeadWay way;
  for (const auto node : nodes) way.add(node);
  const auto take_ways = [&] {
    for (std::size_t i = 0; i < 3; ++i) take_way(graph, operands[i], way, i < 2 ? &around.factor : nullptr);
  };
  take_ways();
  take_repetitions(graph, operands, around, way);
  take_ways();
  take_parts(graph, operands, way);
  take_places(graph, operands, way);
  const auto is_unreadable = [](const HeadOperand& o) {
    return o.apart.has_value() || !(o.axes.places || are_inside(o.axes, o.columns_inside));
  };
  if (std::any_of(operands.begin(), operands.end(), is_unreadable)) return std::nullopt;
  for (auto& f : around.factors) f *= around.factor;
  auto& out = around.places.out;
  around.places = {operands[0].axes, operands[1].axes, operands[2].axes, out};
  auto next = graph.only_user({last, 0});
  const bool same = graph.type(next) == "Reshape" && is_same(graph.fact({next, 0}).shape, graph.fact({last, 0}).shape);
  if (same) next = graph.only_user({next, 0});
  // A Transpose that leaves columns where they are.
  if (const auto order = order_of(graph, next); order.size() == 4 && order[3] == 3) {
    for (auto& axis : out.axes) axis = std::find(order.begin(), order.end(), axis) - order.begin();
    if (same) way.add(graph.input(next, 0).node);
    way.add(next);
  }
  Match match{way.sorted(), {operands[0].value, operands[1].value, operands[2].value}, nullptr};
  match.inputs.insert(match.inputs.end(), masks.begin(), masks.end());
  for (const auto node : match.nodes)
    if (graph.type(node) == "Reshape" || graph.type(node) == "Broadcast") add_computed_inputs(graph, node, 1, match);
  match.kernel = std::make_unique<AttentionKernel>(std::move(around));
  return match;
}

void take_grid(const AddedGrid& grid, std::vector<int>& nodes, std::vector<ValueRef>& masks, Around& around) {
  nodes.insert(nodes.end(), grid.nodes.begin(), grid.nodes.end());
  masks = {grid.by_row, grid.by_column};
  around.grid_columns = grid.columns;
}

std::optional<Match> match_operation(const Graphlet& graph, int root) {
  const auto q = graph.input(root, 0), k = graph.input(root, 1), v = graph.input(root, 2), mask = graph.input(root, 3),
             scale = graph.input(root, 4), sink = graph.input(root, 5);
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
  std::vector<ValueRef> masks;
  std::vector<int> nodes{root};
  Around around{.causal = causal, .factors = std::move(factor)};
  if (const auto grid = masked ? grid_mask(graph, mask, root) : std::nullopt) {
    take_grid(*grid, nodes, masks, around);
  } else if (masked) {
    masks.push_back(mask);
  }
  if (sink.node >= 0 && !is_f32(graph, sink)) return std::nullopt;
  around.sunk = sink.node >= 0;
  auto match =
      attention_match(graph, nodes, {{{q, root, true}, {k, root, false}, {v, root, true}}}, masks, std::move(around));
  if (match && sink.node >= 0) match->inputs.insert(match->inputs.begin() + 3 + std::ssize(masks), sink);
  return match;
}

/// Whether a value is results of a product, perhaps times a factor, to which so many masks are added at most.
bool leads_to_product(const Graphlet& graph, ValueRef v, int user, std::size_t masks) {
  if (!is_inner(graph, v, user)) return false;
  if (masks > 0 && adds(graph, v.node))
    return leads_to_product(graph, graph.input(v.node, 0), v.node, masks - 1) ||
           leads_to_product(graph, graph.input(v.node, 1), v.node, masks - 1);
  const auto factors = factors_of(graph, v.node);
  return factors ? product_before(graph, factors->of, {v.node}).has_value()
                 : product_before(graph, v, {user}).has_value();
}

/// Exporters to ONNX spell out that a query that sees no key gets zeros: IsNaN and Select behind the Softmax.
std::optional<std::array<int, 2>> safe_softmax(const Graphlet& graph, int softmax) {
  const auto users = graph.users({softmax, 0});
  if (users.size() != 2) return std::nullopt;
  for (const int i : {0, 1}) {
    const auto test = users[i], select = users[1 - i];
    if (graph.type(test) == "IsNaN" && graph.type(select) == "Select" && graph.only_user({test, 0}) == select &&
        graph.input(select, 0).node == test && number(graph, graph.input(select, 1)) == 0.0F &&
        graph.constant(graph.input(select, 1))->rank() <= graph.fact({softmax, 0}).shape.rank())
      return std::array{test, select};
  }
  return std::nullopt;
}

/// Keras hides probabilities, too, as it does scores, so that a query that sees no key gets zeros.
std::optional<Masked> hidden_probabilities(const Graphlet& graph, int softmax) {
  const auto select = graph.only_user({softmax, 0});
  auto masked = masked_scores(graph, {select, 0}, {graph.only_user({select, 0})});
  if (!masked || masked->scores.node != softmax || masked->hidden.score != 0) return std::nullopt;
  return masked;
}

/// Whether scores that a mask hides have no probability anyway, but where they are all hidden, and so are these.
bool hides_both(const Masked& scores, const Masked& probabilities) {
  constexpr float kNone = -1e4F;  // e to its power is 0
  return scores.hidden.score <= kNone && scores.hidden.where_true == probabilities.hidden.where_true &&
         same(scores.mask, probabilities.mask);
}

/// From the Softmax on, or what spells it out, backwards to the scores and on to the values.
std::optional<Match> match_spelled_out(const Graphlet& graph, int root) {
  const auto softmax = softmax_from(graph, root);
  if (!softmax) return std::nullopt;
  const auto last = softmax->nodes.back();
  const auto safe = safe_softmax(graph, last);
  const auto hidden = hidden_probabilities(graph, last);
  const auto values = product_after(graph, safe ? safe->back() : hidden ? hidden->nodes.front() : last);
  const auto& scores = graph.fact({last, 0}).shape;
  if (!values || !scores.has_rank() || scores.rank() < 3 || (softmax->axis != -1 && softmax->axis != scores.rank() - 1))
    return std::nullopt;
  auto nodes = values->nodes;
  if (safe) nodes.insert(nodes.end(), safe->begin(), safe->end());
  if (hidden) nodes.insert(nodes.end(), hidden->nodes.begin(), hidden->nodes.end());
  nodes.insert(nodes.end(), softmax->nodes.begin(), softmax->nodes.end());
  auto v = softmax->x;
  std::vector<ValueRef> masks;
  Around around{.nan_is_zero = safe.has_value(), .factors{1}};
  if (auto constants = added_constants(graph, v, nodes)) {
    nodes.insert(nodes.end(), constants->nodes.begin(), constants->nodes.end());
    around.added = std::move(constants->sums);
    around.kinds = std::move(constants->kinds);
    v = constants->from;
  } else if (const auto grid = added_grid(graph, v, nodes)) {
    take_grid(*grid, nodes, masks, around);
    v = grid->from;
  }
  while (around.added.empty() && masks.size() < kMasks && is_inner(graph, v, nodes) && adds(graph, v.node)) {
    const auto add = v.node;
    const int from = leads_to_product(graph, graph.input(add, 0), add, kMasks - 1 - masks.size()) ? 0 : 1;
    v = graph.input(add, from);
    masks.push_back(graph.input(add, 1 - from));
    const auto& mask = graph.fact(masks.back()).shape;
    if (!is_f32(graph, masks.back()) || !mask.has_rank() || mask.rank() > scores.rank()) return std::nullopt;
    nodes.push_back(add);
  }
  const auto masked = masks.empty() && around.added.empty() ? masked_scores(graph, v, nodes) : std::nullopt;
  if (hidden && !(masked && hides_both(*masked, *hidden))) return std::nullopt;
  if (masked) {
    masks.push_back(masked->mask);
    around.hidden = masked->hidden;
    if (hidden) around.hidden.score = HiddenKeys{}.score;
    around.unseen_is_zero = hidden.has_value();
    nodes.insert(nodes.end(), masked->nodes.begin(), masked->nodes.end());
    v = masked->scores;
  }
  if (is_inner(graph, v, nodes))
    if (auto own = factors_of(graph, v.node)) {
      around.factors = std::move(own->numbers);
      nodes.push_back(v.node);
      v = own->of;
    }
  const auto product = product_before(graph, v, nodes);
  if (!product) return std::nullopt;
  nodes.insert(nodes.end(), product->nodes.begin(), product->nodes.end());
  const auto operands = operands_of(graph, *product, *values);
  if (!operands || (around.factors.size() > 1 && !operands->scores.are_single())) return std::nullopt;
  around.places.out = operands->out;
  around.scores = operands->scores;
  around.grouped = operands->grouped;
  return attention_match(graph, nodes, operands->operands, masks, std::move(around));
}

std::optional<Match> match(const Graphlet& graph, int root) {
  return graph.type(root) == "ScaledDotProductAttention" ? match_operation(graph, root)
                                                         : match_spelled_out(graph, root);
}

constexpr std::string_view kRoots[] = {"ReduceMax", "ScaledDotProductAttention", "Softmax"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "attention", .roots = kRoots, .match = match, .priority = Priority::packed};

}  // namespace ovir::fast::patterns::attention
