// ScaledDotProductAttention-13 in f32, and the same as models spell it out: MatMul, a factor, a mask, Softmax, MatMul.
// Queries, keys and values are of rank 4, or 3 where there is one head.
#include <algorithm>
#include <cmath>

#include "fast/kernels/attention/attention.hpp"
#include "fast/patterns.hpp"
#include "fast/patterns/functions.hpp"
#include "op/kit/elementwise_attrs.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast {
namespace {

/// Dim of an axis counted from the end; 1 beyond the first.
i64 from_end(const View& v, i64 back) { return back <= v.rank() ? v.dim(v.rank() - back) : 1; }

HeadView view_of(const View& v) {
  const auto columns = from_end(v, 1), rows = from_end(v, 2), heads = from_end(v, 3);
  return {v.as<const float>(), heads * rows * columns, rows * columns, columns, 1};
}

/// Strides of a mask, 0 where it is broadcast.
HeadView mask_of(const View& v) {
  auto m = view_of(v);
  if (from_end(v, 4) == 1) m.batch = 0;
  if (from_end(v, 3) == 1) m.head = 0;
  if (from_end(v, 2) == 1) m.row = 0;
  if (from_end(v, 1) == 1) m.column = 0;
  return m;
}

class AttentionKernel final : public Kernel {
 public:
  /// `transposed_keys`: [depth][keys]. Without a scale it is 1/√depth.
  AttentionKernel(bool causal, bool transposed_keys, std::optional<float> scale)
      : causal_(causal), transposed_keys_(transposed_keys), scale_(scale) {}

  std::string name() const override { return "attention"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    const auto &q = sizes.in[0], &k = sizes.in[1], &v = sizes.in[2];
    if (q.rank() < 3 || q.rank() > 4 || k.rank() != q.rank() || v.rank() != q.rank()) return nullptr;
    AttentionShape s{.batch = from_end(q, 4),
                     .heads = from_end(q, 3),
                     .kv_heads = from_end(k, 3),
                     .queries = from_end(q, 2),
                     .keys = from_end(k, transposed_keys_ ? 1 : 2),
                     .depth = from_end(q, 1),
                     .value_depth = from_end(v, 1)};
    // Heads and batches that are broadcast otherwise, and masks of their own rank, are for the reference kernel.
    if (s.kv_heads != s.heads || from_end(v, 3) != s.kv_heads || from_end(k, 4) != s.batch ||
        from_end(v, 4) != s.batch || s.keys == 0 || s.depth == 0 || from_end(k, transposed_keys_ ? 2 : 1) != s.depth ||
        from_end(v, 2) != s.keys || (sizes.in.size() > 3 && sizes.in[3].rank() > 4) ||
        sizes.out[0].size() != s.batch * s.heads * s.queries * s.value_depth)
      return nullptr;
    s.causal = causal_;
    s.scale = scale_ ? *scale_ : static_cast<float>(1 / std::sqrt(static_cast<double>(s.depth)));
    auto state = std::make_unique<State>();
    state->shape = s;
    state->scratch = Buffer(attention_scratch_size(s, runtime.threads()));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    auto keys = view_of(in[1]);
    if (transposed_keys_) std::swap(keys.row, keys.column);
    attention(state.shape, view_of(in[0]), keys, view_of(in[2]), in.size() > 3 ? mask_of(in[3]) : HeadView{},
              view_of(out[0]), out[0].as<float>(), state.scratch.data(), runtime.pool());
  }

 private:
  struct State final : KernelState {
    AttentionShape shape;
    Buffer scratch;
  };
  bool causal_, transposed_keys_;
  std::optional<float> scale_;
};

std::optional<Match> match_operation(const Graphlet& graph, int root) {
  const auto q = graph.input(root, 0), k = graph.input(root, 1), v = graph.input(root, 2), mask = graph.input(root, 3),
             scale = graph.input(root, 4);
  const bool causal = graph.attrs<ScaledDotProductAttentionAttrs>(root).causal;
  if (!is_f32(graph, q) || !is_f32(graph, k) || !is_f32(graph, v) || !is_f32(graph, {root, 0})) return std::nullopt;
  std::optional<float> factor;
  if (scale.node >= 0) {
    const auto* t = graph.constant(scale);
    if (!t || t->type() != ElementType::f32 || t->size() != 1) return std::nullopt;
    factor = *t->data<float>();
  }
  Match match{{root}, {q, k, v}, nullptr};
  // A causal attention does not look at its mask.
  if (mask.node >= 0 && !causal) {
    if (!is_f32(graph, mask)) return std::nullopt;
    match.inputs.push_back(mask);
  }
  match.kernel = std::make_unique<AttentionKernel>(causal, false, factor);
  return match;
}

/// The number that a Multiply or Divide applies to its input 0; nothing where it is not one constant.
std::optional<float> factor_of(const Graphlet& graph, int node) {
  const auto* t = graph.constant(graph.input(node, 1));
  if (!t || t->type() != ElementType::f32 || t->size() != 1) return std::nullopt;
  const auto value = *t->data<float>();
  if (graph.type(node) == "Multiply") return value;
  return graph.type(node) == "Divide" ? std::optional(1 / value) : std::nullopt;
}

/// A value that only `user` reads, of a node that may be taken.
bool is_inner(const Graphlet& graph, ValueRef v, int user) {
  return v.node >= 0 && v.port == 0 && is_f32(graph, v) && graph.only_user(v) == user && !graph.type(v.node).empty();
}

/// A product that only `user` reads, or one times a factor.
bool leads_to_product(const Graphlet& graph, ValueRef v, int user) {
  if (!is_inner(graph, v, user)) return false;
  if (!factor_of(graph, v.node)) return graph.type(v.node) == "MatMul";
  const auto product = graph.input(v.node, 0);
  return is_inner(graph, product, v.node) && graph.type(product.node) == "MatMul";
}

/// From the Softmax on, backwards to the scores and on to the values.
std::optional<Match> match_spelled_out(const Graphlet& graph, int root) {
  const auto values = graph.only_user({root, 0});
  const auto& scores = graph.fact({root, 0}).shape;
  if (graph.type(values) != "MatMul" || graph.input(values, 0).node != root || !scores.has_rank() ||
      scores.rank() < 3 || scores.rank() > 4)
    return std::nullopt;
  const auto axis = graph.attrs<SoftmaxAttrs>(root).axis;
  const auto& last = graph.attrs<MatMulAttrs>(values);
  if ((axis != -1 && axis != scores.rank() - 1) || last.transpose_a || last.transpose_b) return std::nullopt;
  std::vector<int> nodes{values, root};
  auto v = graph.input(root, 0);
  ValueRef mask;
  const auto add = v.node;
  if (is_inner(graph, v, root) && graph.type(add) == "Add" &&
      graph.attrs<BroadcastAttrs>(add).rule().kind != AutoBroadcast::pdpd) {
    const int from = leads_to_product(graph, graph.input(add, 0), add) ? 0 : 1;
    v = graph.input(add, from);
    mask = graph.input(add, 1 - from);
    if (!is_f32(graph, mask) || !graph.fact(mask).shape.has_rank() || graph.fact(mask).shape.rank() > scores.rank())
      return std::nullopt;
    nodes.push_back(add);
  }
  float scale = 1;
  if (is_inner(graph, v, nodes.back()))
    if (const auto factor = factor_of(graph, v.node)) {
      scale = *factor;
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
  Match match{nodes, {q, k, w}, std::make_unique<AttentionKernel>(false, !first.transpose_b, scale)};
  if (mask.node >= 0) match.inputs.push_back(mask);
  return match;
}

std::optional<Match> match(const Graphlet& graph, int root) {
  return graph.type(root) == "Softmax" ? match_spelled_out(graph, root) : match_operation(graph, root);
}

constexpr std::string_view kRoots[] = {"ScaledDotProductAttention", "Softmax"};

}  // namespace

constinit const Pattern kAttention{"attention", kRoots, match};

}  // namespace ovir::fast
