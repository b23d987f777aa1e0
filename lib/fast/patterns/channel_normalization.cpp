// MVN-6 over the second axis alone in f32, which normalizes each pixel (LayerNorm of images), with factors and offsets
// by channel, and the activation behind it, of blocked and of plain values.
#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kernels/normalization/pixels.hpp"
#include "fast/kit/functions.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast::patterns::channel_normalization {
namespace {

class ChannelNormalization final : public Kernel {
 public:
  /// `blocked`: channels fill their blocks.
  ChannelNormalization(float epsilon, Buffer weight, Buffer bias, Unary activation, bool blocked, std::string name)
      : epsilon_(epsilon),
        weight_(std::move(weight)),
        bias_(std::move(bias)),
        activation_(activation),
        blocked_(blocked),
        name_(std::move(name)) {}

  std::string name() const override { return name_; }

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
    const PixelNormalization what{batch, channels, plane, epsilon_, weight_.data(), bias_.data(), activation_};
    normalize_over_channels(what, blocked, x, out[0].as<float>(), runtime.pool());
  }

  bool writes_over(int) const override { return true; }
  bool reads(int, Layout layout) const override { return layout == Layout::plain || blocked_; }
  bool writes(Layout layout) const override { return layout == Layout::plain || blocked_; }

 private:
  struct State final : KernelState {
    Scratch in;
  };
  float epsilon_;
  Buffer weight_, bias_;
  Unary activation_;
  bool blocked_;
  std::string name_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
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
  std::string name = "channel_normalization";
  const auto take = [&](std::string_view type, float otherwise) {
    auto numbers = take_by_channel(graph, match, type, shape.rank(), channels, otherwise);
    if (graph.type(match.nodes.back()) == type) name += "+" + std::string(type);
    return numbers;
  };
  auto weight = take("Multiply", 1), bias = take("Add", 0);
  Unary activation{};
  if (const auto found = activation_after(graph, match.nodes.back())) {
    activation = found->function;
    name += found->name;
    match.nodes.insert(match.nodes.end(), found->nodes.begin(), found->nodes.end());
  }
  const bool blocked = channels % kBlock == 0 && shape.rank() <= 5;
  match.kernel = std::make_unique<ChannelNormalization>(static_cast<float>(attrs.eps), std::move(weight),
                                                        std::move(bias), activation, blocked, std::move(name));
  return match;
}

constexpr std::string_view kRoots[] = {"MVN"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "channel_normalization", .roots = kRoots, .match = match, .priority = Priority::packed};

}  // namespace ovir::fast::patterns::channel_normalization
