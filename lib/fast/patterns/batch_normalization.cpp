// BatchNormInference by constants.
#include <array>
#include <cmath>

#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kernels/normalization/channels.hpp"
#include "fast/kit/functions.hpp"
#include "op/kit/batch_normalization_attrs.hpp"

namespace ovir::fast::patterns::batch_normalization {
namespace {

class BatchNormalization final : public Kernel {
 public:
  BatchNormalization(Buffer mean, Buffer factor, Buffer beta, bool blocked)
      : mean_(std::move(mean)), factor_(std::move(factor)), beta_(std::move(beta)), blocked_(blocked) {}

  std::string name() const override { return "batch_normalization"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto &in = sizes.in[0], &out = sizes.out[0];
    const auto batch = out.dim(0), channels = out.dim(1), plane = out.size() / (batch * channels);
    const bool blocked = in.layout == Layout::blocked || out.layout == Layout::blocked;
    auto state = std::make_unique<State>();
    state->batch = batch;
    state->channels = channels;
    state->plane = plane;
    state->blocked = blocked;
    if (blocked && in.layout != Layout::blocked) state->in = state->reserve(out.size());
    if (blocked && out.layout != Layout::blocked) state->out = state->reserve(out.size());
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    auto& pool = runtime.pool();
    const auto* x = in[0].as<const float>();
    if (state.in) {
      to_blocked(x, state.floats(state.in), state.batch, state.channels, state.plane, pool);
      x = state.floats(state.in);
    }
    auto* y = state.out ? state.floats(state.out) : out[0].as<float>();
    const auto normalize = state.blocked ? normalize_blocked_channels : normalize_channels;
    normalize({mean_.data(), factor_.data(), beta_.data()}, x, y, state.batch, state.channels, state.plane, pool);
    if (state.out) to_plain(y, out[0].as<float>(), state.batch, state.channels, state.plane, pool);
  }

  bool writes_over(int) const override { return true; }
  bool reads(int, Layout layout) const override { return layout == Layout::plain || blocked_; }
  bool writes(Layout layout) const override { return layout == Layout::plain || blocked_; }

 private:
  struct State final : KernelState {
    i64 batch = 0, channels = 0, plane = 0;
    bool blocked = false;
    Scratch in, out;
  };
  Buffer mean_, factor_, beta_;
  bool blocked_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  // Version 1 has the data as third input, version 5 as first.
  const bool third = graph.node(root).version->since < 5;
  const auto x = graph.input(root, third ? 2 : 0);
  const auto& shape = graph.fact({root, 0}).shape;
  if (!is_f32(graph, x) || !is_f32(graph, {root, 0}) || !shape.has_rank() || !shape[1].is_static()) return std::nullopt;
  const auto channels = shape[1].length();
  std::array<const float*, 4> given;  // gamma, beta, mean, variance
  for (int i = 0; i < 4; ++i) {
    const auto* t = graph.constant(graph.input(root, third ? (i < 2 ? i : i + 1) : i + 1));
    if (!t || t->type() != ElementType::f32 || t->size() != channels) return std::nullopt;
    given[static_cast<std::size_t>(i)] = t->data<float>();
  }
  const auto [gamma, beta, mean, variance] = given;
  std::vector<float> factor(static_cast<std::size_t>(channels));
  const auto epsilon = graph.attrs<BatchNormalizationAttrs>(root).epsilon;
  for (std::size_t c = 0; c < factor.size(); ++c)
    factor[c] =
        static_cast<float>(static_cast<double>(gamma[c]) / std::sqrt(static_cast<double>(variance[c]) + epsilon));
  const bool blocked = shape.rank() >= 3 && shape.rank() <= 5 && channels % kBlock == 0;
  return Match{{root},
               {x},
               std::make_unique<BatchNormalization>(padded(std::span(mean, factor.size())), padded(factor),
                                                    padded(std::span(beta, factor.size())), blocked)};
}

constexpr std::string_view kRoots[] = {"BatchNormInference"};

}  // namespace

extern constinit const Pattern pattern{.name = "batch_normalization", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::batch_normalization
