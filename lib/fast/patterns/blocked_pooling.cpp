// MaxPool and AvgPool of one and two spatial axes in f32 between blocked values, or plain ones, also with a Pad of
// zeros before them.
#include "fast/kernels/convolution/bf16.hpp"
#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kernels/pooling/blocked.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/levels.hpp"
#include "fast/kit/pooling.hpp"
#include "fast/kit/zeros.hpp"

namespace ovir::fast::patterns::blocked_pooling {
namespace {

class BlockedPooling final : public Kernel {
 public:
  /// `levels`: of the input, where it may be stored as such; a maximum may be, too.
  BlockedPooling(const PoolAttrs& attrs, bool maximum, const std::optional<Levels>& levels, i64 channels)
      : attrs_(attrs), maximum_(maximum) {
    if (!levels) return;
    levels_ = levels->quantization;
    table_.emplace(*levels, channels);
  }

  std::string name() const override { return maximum_ ? "blocked.max_pool" : "blocked.average_pool"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    const auto &in = sizes.in[0], &out = sizes.out[0];
    auto state = std::make_unique<State>();
    const auto pooled = pooled_shape(attrs_, in.dims, out.dims);
    if (in.type == ElementType::f32 && out.type == ElementType::f32 && in.layout == Layout::plain &&
        out.layout == Layout::plain)
      state->planar = planar_pooling(attrs_, maximum_, in.dims, out.dims);
    if (state->planar && pooled && !state->planar->pays(in.dim(1))) state->planar.reset();
    if (state->planar) {
      state->in = state->reserve(planar_scratch_size(*state->planar, runtime.threads()));
      return state;
    }
    if (!pooled) return nullptr;
    state->pooled = *pooled;
    // In a narrower type where both sides are of it.
    state->narrow = in.type != ElementType::f32 && in.type == out.type;
    // The maximum of levels, also where it becomes f32.
    if (maximum_ && in.type == ElementType::u8 && out.type == ElementType::f32) {
      state->narrow = true;
      state->out = state->reserve(in.dim(0) * u8_blocks(in.dim(1)) * kBlock * pooled->shape.out_plane());
      return state;
    }
    const auto blocks = in.dim(0) * blocks_of(in.dim(1)) * kBlock;
    if (in.layout == Layout::plain || (in.type != ElementType::f32 && !state->narrow))
      state->in = state->reserve(blocks * pooled->shape.plane());
    if (out.layout == Layout::plain || (out.type != ElementType::f32 && !state->narrow))
      state->out = state->reserve(blocks * pooled->shape.out_plane());
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    const auto& s = state.pooled.shape;
    auto& pool = runtime.pool();
    if (state.planar)
      return planar_pool(*state.planar, in[0].as<const float>(), out[0].as<float>(), state.floats(state.in), pool);
    const auto* x = reinterpret_cast<const float*>(in[0].data);
    if (state.in) {
      if (in[0].type == ElementType::f32) to_blocked(x, state.floats(state.in), s.batch, s.channels, s.plane(), pool);
      else if (in[0].type == ElementType::u8)
        from_u8_blocked(reinterpret_cast<const std::uint8_t*>(x), table_->scale(), state.floats(state.in), true,
                        s.batch, s.channels, s.plane(), pool);
      else
        from_bf16_blocked(reinterpret_cast<const Word*>(x), state.floats(state.in), true, s.batch, s.channels,
                          s.plane(), pool);
      x = state.floats(state.in);
    }
    auto* y = state.out ? state.floats(state.out) : reinterpret_cast<float*>(out[0].data);
    auto loop = PoolLoop{};
    if (state.narrow) loop = in[0].type == ElementType::u8 ? u8_pool() : bf16_pool();
    if (maximum_) max_pool(s, x, y, pool, loop);
    else average_pool(s, state.pooled.pad_bottom, state.pooled.pad_right, !attrs_.exclude_pad, x, y, pool, loop);
    const auto type = state.narrow ? in[0].type : ElementType::f32;
    if (state.out) store_pooled(type, y, table_ ? &*table_ : nullptr, out[0], pool);
  }

  bool reads(int, Layout) const override { return true; }
  bool writes(Layout) const override { return true; }
  bool reads_as(int, ElementType type, Layout layout) const override {
    return layout == Layout::blocked && (type == ElementType::bf16 || (type == ElementType::u8 && table_));
  }
  bool writes_as(ElementType type, Layout layout) const override {
    return reads_as(0, type, layout) && (maximum_ || type != ElementType::u8);
  }
  bool keeps(ElementType type) const override { return type == ElementType::bf16; }
  std::shared_ptr<const ovir::Quantization> quantization() const override { return levels_; }

 private:
  struct State final : KernelState {
    std::optional<PlanarPooling> planar;  // where both sides are plain and it pays
    PooledShape pooled;
    bool narrow = false;
    Scratch in, out;
  };

  PoolAttrs attrs_;
  bool maximum_;
  std::shared_ptr<const ovir::Quantization> levels_;
  std::optional<U8Table> table_;
};

/// Takes a Pad of zeros before: they are less than no maximum of data from 0 on, and averages count them.
std::optional<int> take_zeros(const Graphlet& graph, int root, bool maximum, PoolAttrs& attrs) {
  auto zeros = zeros_before(graph, root, attrs, attrs.kernel);
  if (!zeros) return std::nullopt;
  const auto all_zero = [](const std::vector<i64>& pads) {
    return std::ranges::all_of(pads, [](i64 n) { return n == 0; });
  };
  const bool counts = !attrs.exclude_pad || (all_zero(attrs.pads_begin) && all_zero(attrs.pads_end));
  if (maximum ? !is_positive(graph, graph.input(zeros->node, 0)) : !counts) return std::nullopt;
  attrs.pads_begin = std::move(zeros->begin);
  attrs.pads_end = std::move(zeros->end);
  attrs.auto_pad = AutoPad::given;
  attrs.exclude_pad = false;
  return zeros->node;
}

std::optional<Match> match(const Graphlet& graph, int root) {
  const bool maximum = graph.type(root) == "MaxPool";
  auto attrs = graph.attrs<PoolAttrs>(root);
  const auto pad = take_zeros(graph, root, maximum, attrs);
  const auto x = graph.input(pad.value_or(root), 0);
  const auto& shape = graph.fact(x).shape;
  if (!is_f32(graph, x) || !shape.has_rank() || shape.rank() < 3 || shape.rank() > 4) return std::nullopt;
  // Indices are for the reference kernel.
  if (maximum && graph.node(root).version->outputs.size() > 1 && graph.is_read({root, 1})) return std::nullopt;
  const auto& out = graph.fact({root, 0}).shape;
  const bool known = shape.is_static() && out.is_static();
  // Averages of windows that go beyond the padded plane count otherwise.
  if (!maximum && attrs.rounding_type != Rounding::floor &&
      (!known || goes_beyond(attrs, shape.to_shape(), out.to_shape())))
    return std::nullopt;
  auto kernel = std::make_unique<BlockedPooling>(attrs, maximum, shape.is_static() ? levels_of(graph, x) : std::nullopt,
                                                 shape[1].is_static() ? shape[1].length() : 0);
  // Where sizes are known the layouts count on the kernel.
  if (known && !pooled_shape(attrs, shape.to_shape(), out.to_shape())) return std::nullopt;
  auto nodes = pad ? std::vector{*pad, root} : std::vector{root};
  return Match{std::move(nodes), {x}, std::move(kernel)};
}

constexpr std::string_view kRoots[] = {"MaxPool", "AvgPool"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "blocked_pooling", .roots = kRoots, .match = match, .priority = Priority::packed};

}  // namespace ovir::fast::patterns::blocked_pooling
