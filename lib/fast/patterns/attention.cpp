// ScaledDotProductAttention-13 in f32, and the same as models spell it out: MatMul or Einsum (kit/head_products), a
// factor, masks that are added or by which a Select hides scores (kit/score_masks), Softmax (kit/softmax), MatMul or
// Einsum, with IsNaN and Select, or the mask's Select once more, behind the Softmax where a query that sees no key gets
// zeros. Queries, keys and values are of rank 4, or 3 where there is one head, or of more, whose first axes are the
// batch; those of Einsums have their axes in any order. They are read as they are before Transposes and factors, before
// batch and heads are joined, and before Split, Slice or Gather, or Unsqueeze, Broadcast and Reshape, where they are
// parts of one value, or keys and values that groups of heads share (kit/heads). With Precision::bf16 the products are
// in bf16, with Precision::int8 those of levels are in integers, and FakeQuantize before them is taken.
#include <algorithm>
#include <array>
#include <cmath>

#include "fast/kit/attention_kernel.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/head_places.hpp"
#include "fast/kit/head_products.hpp"
#include "fast/kit/heads.hpp"
#include "fast/kit/levels.hpp"
#include "fast/kit/score_masks.hpp"
#include "fast/kit/softmax.hpp"
#include "fast/kit/spelled_out.hpp"
#include "op/kit/elementwise_attrs.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast::patterns::attention {
namespace {

bool is_mask(const Graphlet& graph, ValueRef v) { return is_f32(graph, v) || graph.stored(v) == ElementType::boolean; }

/// Reads keys and values before heads are repeated, where both are.
void take_repetitions(const Graphlet& graph, std::array<HeadOperand, 3>& operands, AroundAttention& around,
                      HeadWay& way) {
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

/// Takes the FakeQuantize that gives an operand, where nobody else reads it: what comes before is brought onto levels
/// as it is read. False where it is not so.
bool take_quantize(const Graphlet& graph, HeadOperand& operand, HeadWay& way) {
  const auto node = operand.value.node;
  if (graph.type(node) != "FakeQuantize" || operand.apart || graph.only_user(operand.value) != operand.user ||
      !is_f32(graph, graph.input(node, 0)))
    return false;
  operand.value = graph.input(node, 0);
  operand.user = node;
  way.add(node);
  take_way(graph, operand, way);
  return true;
}

/// Whether products of levels are known to take longer than those in f32, keys being packed for them.
bool are_too_few(const Graphlet& graph, const HeadOperand& queries) {
  constexpr i64 kRows = 3, kColumns = 16;
  const auto& shape = graph.fact(queries.value).shape;
  const auto is_below = [&](i64 axis, i64 least) { return shape[axis].is_static() && shape[axis].length() < least; };
  const auto& axes = queries.axes;
  return !axes.places && shape.has_rank() && shape.rank() == axes.rank && !queries.apart &&
         (is_below(axes.axes[2], kRows) || is_below(axes.axes[3], kColumns));
}

/// Queries and keys that are both on levels, and values where probabilities are.
void take_levels(const Graphlet& graph, std::array<HeadOperand, 3>& operands,
                 const std::optional<Levels>& probabilities, AroundAttention& around, HeadWay& way) {
  const auto q = single_levels(graph, operands[0].value), k = single_levels(graph, operands[1].value);
  if (q && k && (probabilities || !are_too_few(graph, operands[0]))) {
    around.level_scores = true;
    around.q_levels = level_line(*q);
    around.k_levels = level_line(*k);
    around.factor *= q->scale(0) * k->scale(0);
    around.reads_q_levels = !take_quantize(graph, operands[0], way);
    around.reads_k_levels = !take_quantize(graph, operands[1], way);
  }
  const auto v = probabilities ? single_levels(graph, operands[2].value) : std::nullopt;
  if (v) {
    around.level_values = true;
    around.p_levels = level_line(*probabilities);
    around.v_levels = level_line(*v);
    around.value_scale = probabilities->scale(0) * v->scale(0);
    around.reads_v_levels = !take_quantize(graph, operands[2], way);
  }
}

/// The kernel for these nodes, the last of which gives the output, with what is around them; nothing where an operand
/// cannot be read.
std::optional<Match> attention_match(const Graphlet& graph, std::vector<int> nodes, std::array<HeadOperand, 3> operands,
                                     const std::vector<ValueRef>& masks, AroundAttention around,
                                     const std::optional<Levels>& probabilities = std::nullopt) {
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
  if (graph.options().precision == Precision::int8) take_levels(graph, operands, probabilities, around, way);
  if (probabilities && !around.level_values) return std::nullopt;
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
  match.kernel = attention_kernel(std::move(around));
  return match;
}

void take_grid(const AddedGrid& grid, std::vector<int>& nodes, std::vector<ValueRef>& masks, AroundAttention& around) {
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
  AroundAttention around{.causal = causal, .factors = std::move(factor)};
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

/// Levels from 0 on, of which attention makes use in Precision::int8: where all scores of a query may be there at once.
std::optional<Levels> quantized_probabilities(const Graphlet& graph, int quantize) {
  constexpr i64 kLeastKeys = 4, kMostKeys = 2048;
  if (graph.options().precision != Precision::int8 || graph.type(quantize) != "FakeQuantize") return std::nullopt;
  const auto& shape = graph.fact({quantize, 0}).shape;
  if (!shape.has_rank() || shape.rank() == 0 || !shape[shape.rank() - 1].is_static() ||
      shape[shape.rank() - 1].length() < kLeastKeys || shape[shape.rank() - 1].length() > kMostKeys)
    return std::nullopt;
  auto levels = single_levels(graph, {quantize, 0});
  if (levels && levels->zero(0) != 0) levels.reset();
  return levels;
}

/// From the Softmax on, or what spells it out, backwards to the scores and on to the values.
std::optional<Match> match_spelled_out(const Graphlet& graph, int root) {
  const auto softmax = softmax_from(graph, root);
  if (!softmax) return std::nullopt;
  const auto last = softmax->nodes.back();
  const auto safe = safe_softmax(graph, last);
  const auto hidden = hidden_probabilities(graph, last);
  const auto behind = safe ? safe->back() : hidden ? hidden->nodes.front() : last;
  const auto quantize = graph.only_user({behind, 0});
  const auto levels = quantized_probabilities(graph, quantize);
  const auto values = product_after(graph, levels ? quantize : behind);
  const auto& scores = graph.fact({last, 0}).shape;
  if (!values || !scores.has_rank() || scores.rank() < 3 || (softmax->axis != -1 && softmax->axis != scores.rank() - 1))
    return std::nullopt;
  auto nodes = values->nodes;
  if (levels) nodes.push_back(quantize);
  if (safe) nodes.insert(nodes.end(), safe->begin(), safe->end());
  if (hidden) nodes.insert(nodes.end(), hidden->nodes.begin(), hidden->nodes.end());
  nodes.insert(nodes.end(), softmax->nodes.begin(), softmax->nodes.end());
  auto v = softmax->x;
  std::vector<ValueRef> masks;
  AroundAttention around{.nan_is_zero = safe.has_value(), .factors{1}};
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
  return attention_match(graph, nodes, operands->operands, masks, std::move(around), levels);
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
