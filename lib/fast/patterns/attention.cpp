// ScaledDotProductAttention-13 in f32: queries, keys and values of rank 4 (or 3: one head).
#include <cmath>

#include "fast/kernels/attention/attention.hpp"
#include "fast/patterns.hpp"
#include "fast/patterns/functions.hpp"
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
  AttentionKernel(bool causal, std::optional<float> scale) : causal_(causal), scale_(scale) {}

  std::string name() const override { return "attention"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    const auto &q = sizes.in[0], &k = sizes.in[1], &v = sizes.in[2];
    if (q.rank() < 3 || q.rank() > 4 || k.rank() != q.rank() || v.rank() != q.rank()) return nullptr;
    AttentionShape s{.batch = from_end(q, 4),
                     .heads = from_end(q, 3),
                     .kv_heads = from_end(k, 3),
                     .queries = from_end(q, 2),
                     .keys = from_end(k, 2),
                     .depth = from_end(q, 1),
                     .value_depth = from_end(v, 1)};
    // Heads and batches that are broadcast otherwise, and masks of their own rank, are for the reference kernel.
    if (s.kv_heads != s.heads || from_end(v, 3) != s.kv_heads || from_end(k, 4) != s.batch ||
        from_end(v, 4) != s.batch || s.keys == 0 || s.depth == 0 || (sizes.in.size() > 3 && sizes.in[3].rank() > 4) ||
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
    attention(state.shape, view_of(in[0]), view_of(in[1]), view_of(in[2]), in.size() > 3 ? mask_of(in[3]) : HeadView{},
              view_of(out[0]), out[0].as<float>(), state.scratch.data(), runtime.pool());
  }

 private:
  struct State final : KernelState {
    AttentionShape shape;
    Buffer scratch;
  };
  bool causal_;
  std::optional<float> scale_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
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
  match.kernel = std::make_unique<AttentionKernel>(causal, factor);
  return match;
}

constexpr std::string_view kRoots[] = {"ScaledDotProductAttention"};

}  // namespace

constinit const Pattern kAttention{"attention", kRoots, match};

}  // namespace ovir::fast
