// MVN-6 over the second axis alone in f32, which normalizes each pixel (LayerNorm of images), with factors and offsets
// by channel, and the activation behind it, of blocked and of plain values; also as TensorFlow spells it out.
#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kernels/normalization/pixels.hpp"
#include "fast/kit/group_normalization.hpp"
#include "fast/kit/moments.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast::patterns::channel_normalization {
namespace {

class ChannelNormalization final : public Kernel {
 public:
  explicit ChannelNormalization(GroupNormalizationForm form) : form_(std::move(form)) {}

  std::string name() const override { return form_.name; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    auto state = std::make_unique<State>();
    if (sizes.in[0].layout != sizes.out[0].layout) state->in = state->reserve(sizes.in[0].size());
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    const auto batch = in[0].dim(0), channels = in[0].dim(1), plane = in[0].size() / std::max<i64>(batch * channels, 1);
    const bool blocked = out[0].layout == Layout::blocked;
    const auto* x = in[0].as<const float>();
    if (state.in) {
      (blocked ? to_blocked : to_plain)(x, state.floats(state.in), batch, channels, plane, runtime.pool(), 1);
      x = state.floats(state.in);
    }
    const PixelNormalization what{
        batch, channels, plane, form_.epsilon, form_.weight.data(), form_.bias.data(), form_.activation};
    normalize_over_channels(what, blocked, x, out[0].as<float>(), runtime.pool());
  }

  bool writes_over(int) const override { return true; }
  bool reads(int, Layout layout) const override { return layout == Layout::plain || form_.blocked; }
  bool writes(Layout layout) const override { return layout == Layout::plain || form_.blocked; }

 private:
  struct State final : KernelState {
    Scratch in;
  };
  GroupNormalizationForm form_;
};

std::optional<Match> spelled_out(const Graphlet& graph, int root) {
  auto found = normalization_by_moments(graph, root);
  if (!found || found->axes != std::vector<i64>{1}) return std::nullopt;
  const auto& shape = graph.fact(found->x).shape;
  if (shape.rank() < 3 || !shape[1].is_static() || shape[1].length() == 0) return std::nullopt;
  GroupNormalizationForm form("channel_normalization", 1, found->epsilon, shape);
  if (!form.set_factors(graph, *found, shape.rank(), shape[1].length())) return std::nullopt;
  Match match{std::move(found->nodes), {found->x}, nullptr};
  form.take_activation(graph, match);
  match.kernel = std::make_unique<ChannelNormalization>(std::move(form));
  return match;
}

std::optional<Match> match(const Graphlet& graph, int root) {
  if (graph.type(root) == "ReduceMean") return spelled_out(graph, root);
  const auto x = graph.input(root, 0);
  const auto& shape = graph.fact(x).shape;
  if (!is_f32(graph, x) || !shape.has_rank() || shape.rank() < 3 || !shape[1].is_static()) return std::nullopt;
  const auto& attrs = graph.attrs<MvnAttrs>(root);
  const auto axes = constant_axes(graph, graph.input(root, 1), shape.rank());
  const auto channels = shape[1].length();
  if (axes != std::vector<i64>{1} || !attrs.normalize_variance || attrs.eps_mode != MvnEps::inside_sqrt ||
      channels == 0)
    return std::nullopt;
  Match match{{root}, {x}, nullptr};
  GroupNormalizationForm form("channel_normalization", 1, attrs.eps, shape);
  form.take_factors(graph, match, shape.rank(), channels);
  form.take_activation(graph, match);
  match.kernel = std::make_unique<ChannelNormalization>(std::move(form));
  return match;
}

constexpr std::string_view kRoots[] = {"MVN", "ReduceMean"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "channel_normalization", .roots = kRoots, .match = match, .priority = Priority::packed};

}  // namespace ovir::fast::patterns::channel_normalization
