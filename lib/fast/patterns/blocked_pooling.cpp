// MaxPool and AvgPool of two spatial axes in f32 between blocked values.
#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kernels/pooling/blocked.hpp"
#include "fast/patterns.hpp"
#include "fast/patterns/functions.hpp"
#include "op/kit/window.hpp"

namespace ovir::fast {
namespace {

class BlockedPooling final : public Kernel {
 public:
  BlockedPooling(const PoolAttrs& attrs, bool maximum) : attrs_(attrs), maximum_(maximum) {}

  std::string name() const override { return maximum_ ? "blocked.max_pool" : "blocked.average_pool"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto &in = sizes.in[0], &out = sizes.out[0];
    if (in.rank() != 4) return nullptr;
    auto state = std::make_unique<State>();
    auto& s = state->shape;
    s.batch = in.dim(0);
    s.channels = s.outputs = s.groups = in.dim(1);
    s.height = in.dim(2);
    s.width = in.dim(3);
    s.out_height = out.dim(2);
    s.out_width = out.dim(3);
    const auto rows = window(0, s.height), columns = window(1, s.width);
    s.kernel_height = rows.kernel;
    s.kernel_width = columns.kernel;
    s.stride_y = rows.stride;
    s.stride_x = columns.stride;
    s.dilation_y = rows.dilation;
    s.dilation_x = columns.dilation;
    s.pad_top = rows.pad_begin;
    s.pad_left = columns.pad_begin;
    state->pad_bottom = rows.pad_end;
    state->pad_right = columns.pad_end;
    const auto hangs = [](const Window& w, i64 length, i64 count) {  // a window may lie wholly beyond the plane
      return w.pad_begin >= w.extent() || (count - 1) * w.stride + w.extent() - length - w.pad_begin >= w.extent();
    };
    if (s.taps() > kMaxPoolTaps || hangs(rows, s.height, s.out_height) || hangs(columns, s.width, s.out_width))
      return nullptr;
    const auto blocks = s.batch * blocks_of(s.channels) * kBlock;
    if (in.layout == Layout::plain) state->in = state->reserve(blocks * s.plane());
    if (out.layout == Layout::plain) state->out = state->reserve(blocks * s.out_plane());
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    const auto& s = state.shape;
    auto& pool = runtime.pool();
    const auto* x = in[0].as<const float>();
    if (state.in) {
      to_blocked(x, state.floats(state.in), s.batch, s.channels, s.plane(), pool);
      x = state.floats(state.in);
    }
    auto* y = state.out ? state.floats(state.out) : out[0].as<float>();
    if (maximum_) max_pool(s, x, y, pool);
    else average_pool(s, state.pad_bottom, state.pad_right, !attrs_.exclude_pad, x, y, pool);
    if (state.out) to_plain(y, out[0].as<float>(), s.batch, s.channels, s.out_plane(), pool);
  }

  bool reads(int, Layout) const override { return true; }
  bool writes(Layout) const override { return true; }

 private:
  struct State final : KernelState {
    ConvolutionShape shape;
    i64 pad_bottom = 0, pad_right = 0;
    Scratch in, out;
  };

  Window window(std::size_t axis, i64 length) const {
    return Window{attrs_.kernel.at(axis),
                  nth_or(attrs_.strides, axis, 1),
                  nth_or(attrs_.dilations, axis, 1),
                  nth_or(attrs_.pads_begin, axis, 0),
                  nth_or(attrs_.pads_end, axis, 0),
                  attrs_.auto_pad,
                  attrs_.rounding_type}
        .resolved(length);
  }

  PoolAttrs attrs_;
  bool maximum_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto x = graph.input(root, 0);
  const auto& shape = graph.fact(x).shape;
  if (!is_f32(graph, x) || !shape.has_rank() || shape.rank() != 4) return std::nullopt;
  const bool maximum = graph.type(root) == "MaxPool";
  // Indices are for the reference kernel.
  if (maximum && graph.node(root).version->outputs.size() > 1 && graph.is_read({root, 1})) return std::nullopt;
  const auto& attrs = graph.attrs<PoolAttrs>(root);
  // Windows that begin beyond the plane count otherwise.
  if (!maximum && attrs.rounding_type != Rounding::floor) return std::nullopt;
  return Match{{root}, {x}, std::make_unique<BlockedPooling>(attrs, maximum)};
}

constexpr std::string_view kRoots[] = {"MaxPool", "AvgPool"};

}  // namespace

constinit const Pattern kBlockedPooling{"blocked_pooling", kRoots, match};

}  // namespace ovir::fast
