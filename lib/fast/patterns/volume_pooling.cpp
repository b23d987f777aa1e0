// MaxPool and AvgPool of three spatial axes: where one side is blocked, the windows of each slice, then what those give
// along the first axis. Maxima also of levels and of bf16.
#include "fast/kernels/convolution/bf16.hpp"
#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kernels/pooling/blocked.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/levels.hpp"
#include "fast/kit/pooling.hpp"

namespace ovir::fast::patterns::volume_pooling {
namespace {

/// Whether windows along the first axis are none that pooled_shape() would refuse along the others.
bool depth_fits(const PoolAttrs& attrs, std::span<const i64> in, std::span<const i64> out) {
  const auto depth = attrs.window(0).resolved(in[2]);
  return depth.kernel <= kMaxPoolTaps && !has_empty_window(depth, in[2], out[2]);
}

class VolumePooling final : public Kernel {
 public:
  /// `levels`: of the input, where it may be stored as such.
  VolumePooling(const PoolAttrs& attrs, bool maximum, const std::optional<Levels>& levels, i64 channels)
      : attrs_(attrs), maximum_(maximum) {
    if (!levels) return;
    levels_ = levels->quantization;
    table_.emplace(*levels, channels);
  }

  std::string name() const override { return maximum_ ? "volume.max_pool" : "volume.average_pool"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    const auto &in = sizes.in[0], &out = sizes.out[0];
    auto state = std::make_unique<State>();
    const auto pooled = pooled_shape(attrs_, in.dims, out.dims);
    const bool fits = pooled && depth_fits(attrs_, in.dims, out.dims);
    const bool wide = in.type == ElementType::f32 && out.type == ElementType::f32;
    if (wide && in.layout == Layout::plain && out.layout == Layout::plain)
      state->planar = planar_pooling(attrs_, maximum_, in.dims, out.dims);
    if (state->planar && fits && !state->planar->pays(in.dim(1))) state->planar.reset();
    if (state->planar) {
      state->in = state->reserve(planar_scratch_size(*state->planar, runtime.threads()));
      return state;
    }
    if (!fits) return nullptr;
    const auto slices = in.dim(2), out_slices = out.dim(2);
    const auto depth = attrs_.window(0).resolved(slices);
    state->plane = *pooled;
    auto& plane = state->plane.shape;
    if (in.type != ElementType::f32) state->loop = in.type == ElementType::u8 ? u8_pool() : bf16_pool();
    // Blocks of channels lie as images do that have no more of them.
    const auto images = in.dim(0) * ceil_div(plane.channels, state->loop.channels);
    plane.channels = plane.outputs = plane.groups = state->loop.channels;
    plane.batch = images * slices;
    // What the slices gave are planes that are as high as the volume is deep.
    auto& line = state->line.shape;
    line.batch = images;
    line.channels = line.outputs = line.groups = state->loop.channels;
    line.height = slices;
    line.out_height = out_slices;
    line.width = line.out_width = plane.out_plane();
    line.kernel_height = depth.kernel;
    line.stride_y = depth.stride;
    line.dilation_y = depth.dilation;
    line.pad_top = depth.pad_begin;
    state->line.pad_bottom = depth.pad_end;
    if (in.layout == Layout::plain) state->in = state->reserve(plane.batch * plane.plane() * kBlock);
    state->between = state->reserve(plane.batch * plane.out_plane() * kBlock);
    if (out.layout == Layout::plain || out.type != in.type)
      state->out = state->reserve(images * out_slices * plane.out_plane() * kBlock);
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    const auto& state = static_cast<State&>(prepared);
    const auto &plane = state.plane.shape, &line = state.line.shape;
    auto& pool = runtime.pool();
    const auto batch = in[0].dim(0), channels = in[0].dim(1);
    const auto* x = reinterpret_cast<const float*>(in[0].data);
    if (state.planar) return planar_pool(*state.planar, x, out[0].as<float>(), state.floats(state.in), pool);
    if (state.in) {
      to_blocked(x, state.floats(state.in), batch, channels, line.height * plane.plane(), pool);
      x = state.floats(state.in);
    }
    auto* y = state.out ? state.floats(state.out) : reinterpret_cast<float*>(out[0].data);
    pool_axes(state.plane, state.loop, x, state.floats(state.between), pool);
    pool_axes(state.line, state.loop, state.floats(state.between), y, pool);
    if (state.out) store_pooled(in[0].type, y, table_ ? &*table_ : nullptr, out[0], pool);
  }

  bool reads(int, Layout) const override { return true; }
  bool writes(Layout) const override { return true; }
  bool reads_as(int, ElementType type, Layout layout) const override {
    return maximum_ && layout == Layout::blocked && (type == ElementType::bf16 || (type == ElementType::u8 && table_));
  }
  bool writes_as(ElementType type, Layout layout) const override { return reads_as(0, type, layout); }
  bool keeps(ElementType type) const override { return maximum_ && type == ElementType::bf16; }
  std::shared_ptr<const ovir::Quantization> quantization() const override { return levels_; }

 private:
  struct State final : KernelState {
    std::optional<PlanarPooling> planar;  // where both sides are plain and it pays
    PooledShape plane, line;
    PoolLoop loop;
    Scratch in, between, out;
  };

  void pool_axes(const PooledShape& p, const PoolLoop& loop, const float* in, float* out, ThreadPool& pool) const {
    if (maximum_) max_pool(p.shape, in, out, pool, loop);
    else average_pool(p.shape, p.pad_bottom, p.pad_right, !attrs_.exclude_pad, in, out, pool);
  }

  PoolAttrs attrs_;
  bool maximum_;
  std::shared_ptr<const ovir::Quantization> levels_;
  std::optional<U8Table> table_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto x = graph.input(root, 0);
  const auto& shape = graph.fact(x).shape;
  if (!is_f32(graph, x) || !shape.has_rank() || shape.rank() != 5) return std::nullopt;
  const auto& attrs = graph.attrs<PoolAttrs>(root);
  const bool maximum = graph.type(root) == "MaxPool";
  // Indices are for the reference kernel, and so are averages whose windows may begin beyond the volume.
  if (maximum ? graph.is_read({root, 1}) : attrs.rounding_type != Rounding::floor) return std::nullopt;
  const auto& out = graph.fact({root, 0}).shape;
  // Where sizes are known the layouts count on the kernel.
  if (shape.is_static() && out.is_static()) {
    const auto from = shape.to_shape(), to = out.to_shape();
    if (!pooled_shape(attrs, from, to) || !depth_fits(attrs, from, to)) return std::nullopt;
  }
  const bool known = shape.is_static() && out.is_static();
  return Match{{root},
               {x},
               std::make_unique<VolumePooling>(attrs, maximum, known && maximum ? levels_of(graph, x) : std::nullopt,
                                               known ? shape[1].length() : 0)};
}

constexpr std::string_view kRoots[] = {"MaxPool", "AvgPool"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "volume_pooling", .roots = kRoots, .match = match, .priority = Priority::packed};

}  // namespace ovir::fast::patterns::volume_pooling
