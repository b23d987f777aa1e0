#include "fast/kit/attention_kernel.hpp"

#include <algorithm>
#include <cmath>

#include "fast/kernels/chunks.hpp"

namespace ovir::fast {
namespace {

HeadView at(const View& v, HeadView view, i64 first) {
  if (v.type == ElementType::f32) view.data = v.as<const float>() + first;
  else if (v.type == ElementType::u8) view.levels = v.as<const std::uint8_t>() + first;
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

bool is_column_inside(const HeadAxes& a) { return a.places ? a.places->strides[3] == 1 : a.axes[3] == a.rank - 1; }
bool is_part(const HeadAxes& a) { return a.places || a.part_axis >= 0; }

class AttentionKernel final : public Kernel {
 public:
  explicit AttentionKernel(AroundAttention around) : around_(std::move(around)) {}

  std::string name() const override {
    const bool parts = is_part(around_.places.q) || is_part(around_.places.k) || is_part(around_.places.v);
    const bool levels = around_.level_scores || around_.level_values;
    return std::string(around_.bf16 ? "bf16.attention"
                       : levels     ? "int8.attention"
                                    : "attention") +
           (around_.grouped ? "+groups" : "") + (parts ? "+parts" : "");
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
    s.level_scores = around_.level_scores;
    s.q_levels = around_.q_levels;
    s.k_levels = around_.k_levels;
    s.level_values = around_.level_values;
    s.p_levels = around_.p_levels;
    s.v_levels = around_.v_levels;
    s.value_scale = around_.value_scale;
    constexpr i64 kMost = i64{1} << 16;  // products, whose sums fit 32 bits
    if ((s.level_scores && s.depth > kMost) || (s.level_values && s.keys > kMost)) return nullptr;
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
    if (type == ElementType::u8)
      return layout == Layout::plain && ((input == 0 && around_.reads_q_levels && is_column_inside(around_.places.q)) ||
                                         (input == 1 && around_.reads_k_levels && is_column_inside(around_.places.k)) ||
                                         (input == 2 && around_.reads_v_levels));
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

  AroundAttention around_;
};

}  // namespace

std::unique_ptr<const Kernel> attention_kernel(AroundAttention around) {
  return std::make_unique<AttentionKernel>(std::move(around));
}

}  // namespace ovir::fast
