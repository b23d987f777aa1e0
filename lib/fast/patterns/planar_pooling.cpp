// AdaptiveAvgPool-8 and AdaptiveMaxPool-8 in f32, and of MaxPool and AvgPool what others leave: windows of any size,
// averages of windows that go beyond the padded plane, and maxima of integers. Indices are for the reference kernel.
#include "fast/kernels/types.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/pooling.hpp"

namespace ovir::fast::patterns::planar_pooling {
namespace {

class PlanarPool final : public Kernel {
 public:
  /// `attrs`: null where windows are laid so that there are as many as the output has.
  PlanarPool(std::optional<PoolAttrs> attrs, bool maximum) : attrs_(std::move(attrs)), maximum_(maximum) {}

  std::string name() const override {
    return std::string(attrs_ ? "planar" : "adaptive") + (maximum_ ? ".max_pool" : ".average_pool");
  }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    const auto in = sizes.in[0].dims, out = sizes.out[0].dims;
    auto pooling = attrs_ ? fast::planar_pooling(*attrs_, maximum_, in, out) : adaptive_pooling(maximum_, in, out);
    if (!pooling) return nullptr;
    auto state = std::make_unique<State>();
    state->rows = state->reserve(planar_scratch_size(*pooling, runtime.threads(), sizes.in[0].type));
    state->pooling = std::move(*pooling);
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    const auto& state = static_cast<State&>(prepared);
    auto* const rows = state.floats(state.rows);
    if (in[0].type == ElementType::f32)
      planar_pool(state.pooling, in[0].as<const float>(), out[0].as<float>(), rows, runtime.pool());
    else planar_maximum(state.pooling, in[0].type, in[0].data, out[0].data, rows, runtime.pool());
  }

 private:
  struct State final : KernelState {
    PlanarPooling pooling;
    Scratch rows;
  };

  std::optional<PoolAttrs> attrs_;
  bool maximum_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto x = graph.input(root, 0);
  const auto type = graph.type(root);
  const bool adaptive = type.starts_with("Adaptive"), maximum = type.ends_with("MaxPool");
  const auto element = graph.stored(x);
  const bool whole = maximum && is_among(element, Integers{}) && graph.stored({root, 0}) == element;
  if (!(whole || is_f32(graph, x)) || (maximum && graph.is_read({root, 1}))) return std::nullopt;
  if (adaptive && !graph.constant(graph.input(root, 1))) return std::nullopt;
  return Match{
      {root},
      {x},
      std::make_unique<PlanarPool>(adaptive ? std::nullopt : std::optional(graph.attrs<PoolAttrs>(root)), maximum)};
}

constexpr std::string_view kRoots[] = {"AdaptiveAvgPool", "AdaptiveMaxPool", "AvgPool", "MaxPool"};

}  // namespace

extern constinit const Pattern pattern{.name = "planar_pooling", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::planar_pooling
