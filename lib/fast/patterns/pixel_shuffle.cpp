// Reshape, Transpose and Reshape that make pixels of channels (PixelShuffle, as super-resolution has it), in blocks or
// plainly.
#include <algorithm>

#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kernels/movement/permute.hpp"
#include "fast/kernels/movement/pixel_shuffle.hpp"
#include "fast/kit/functions.hpp"

namespace ovir::fast::patterns::pixel_shuffle {
namespace {

constexpr i64 kOrder[] = {0, 1, 4, 2, 5, 3};

class PixelShuffleKernel final : public Kernel {
 public:
  explicit PixelShuffleKernel(i64 scale) : scale_(scale) {}

  std::string name() const override { return "pixel_shuffle"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto &in = sizes.in[0], &out = sizes.out[0];
    auto state = std::make_unique<State>();
    auto& w = state->what = {in.dim(0), out.dim(1), in.dim(2), in.dim(3), scale_};
    if (in.dim(1) != w.channels * scale_ * scale_ || out.dim(2) != w.height * scale_ || out.dim(3) != w.width * scale_)
      return nullptr;
    if (in.layout != out.layout)
      state->in = state->reserve(in.dim(0) * (in.dim(1) + kBlock - 1) / kBlock * kBlock * w.height * w.width);
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    const auto& state = static_cast<State&>(prepared);
    const auto& w = state.what;
    auto& pool = runtime.pool();
    const bool blocked = out[0].layout == Layout::blocked;
    const auto* x = in[0].as<const float>();
    if (state.in) {
      (blocked ? to_blocked : to_plain)(x, state.floats(state.in), w.batch, in[0].dim(1), w.height * w.width, pool, 1);
      x = state.floats(state.in);
    }
    if (blocked) return shuffle_blocked(w, x, out[0].as<float>(), pool);
    const i64 dims[] = {w.batch, w.channels, scale_, scale_, w.height, w.width};
    permute(dims, kOrder, x, out[0].as<float>(), pool);
  }

  bool reads(int, Layout) const override { return true; }
  bool writes(Layout) const override { return true; }

 private:
  struct State final : KernelState {
    PixelShuffle what{};
    Scratch in;
  };
  i64 scale_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto split = graph.input(root, 0);
  const auto after = graph.only_user({root, 0});
  if (graph.type(split.node) != "Reshape" || graph.only_user(split) != root || graph.type(after) != "Reshape" ||
      graph.input(after, 0).node != root)
    return std::nullopt;
  const auto x = graph.input(split.node, 0);
  const auto &in = graph.fact(x).shape, &parts = graph.fact(split).shape, &out = graph.fact({after, 0}).shape;
  if (!is_f32(graph, x) || !in.is_static() || !parts.is_static() || !out.is_static() || in.rank() != 4 ||
      parts.rank() != 6 || out.rank() != 4)
    return std::nullopt;
  const auto order = constant_axes(graph, graph.input(root, 1), 6);
  if (!order || !std::ranges::equal(*order, kOrder)) return std::nullopt;
  const auto r = parts[2].length();
  const bool fits = r > 0 && r <= kMaxShuffle && parts[3] == parts[2] && parts[0] == in[0] && parts[4] == in[2] &&
                    parts[5] == in[3] && out[0] == in[0] && out[1] == parts[1] &&
                    out[2].length() == r * in[2].length() && out[3].length() == r * in[3].length();
  if (!fits) return std::nullopt;
  return Match{{split.node, root, after}, {x}, std::make_unique<PixelShuffleKernel>(r)};
}

constexpr std::string_view kRoots[] = {"Transpose"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "pixel_shuffle", .roots = kRoots, .match = match, .priority = Priority::group};

}  // namespace ovir::fast::patterns::pixel_shuffle
