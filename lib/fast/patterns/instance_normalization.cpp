// MVN-6 over all spatial axes, two at least, in f32 (InstanceNorm), with factors and offsets by channel, and the
// activation behind it, of blocked and of plain values.
#include <algorithm>

#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kernels/normalization/blocked.hpp"
#include "fast/kernels/normalization/rows.hpp"
#include "fast/kit/functions.hpp"
#include "op/kit/elementwise_attrs.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast::patterns::instance_normalization {
namespace {

class InstanceNormalization final : public Kernel {
 public:
  /// `weight` and `bias` by channel.
  InstanceNormalization(double epsilon, bool blocked, Buffer weight, Buffer bias, Unary activation, std::string name)
      : epsilon_(static_cast<float>(epsilon)),
        blocked_(blocked),
        weight_(std::move(weight)),
        bias_(std::move(bias)),
        activation_(activation),
        name_(std::move(name)) {}

  std::string name() const override { return name_; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto& x = sizes.in[0];
    auto state = std::make_unique<State>();
    if (x.layout != sizes.out[0].layout) state->in = state->reserve(x.size());
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    const auto& state = static_cast<State&>(prepared);
    const auto batch = in[0].dim(0), channels = in[0].dim(1), plane = in[0].size() / (batch * channels);
    auto& pool = runtime.pool();
    const auto* x = in[0].as<const float>();
    auto* y = out[0].as<float>();
    const bool blocked = out[0].layout == Layout::blocked;
    if (state.in) {
      (blocked ? to_blocked : to_plain)(x, state.floats(state.in), batch, channels, plane, pool, 1);
      x = state.floats(state.in);
    }
    if (blocked)
      return normalize_blocked({batch, channels, plane, channels, epsilon_, weight_.data(), bias_.data(), activation_},
                               x, y, pool);
    RowNormalization rows;
    rows.rows = batch * channels;
    rows.n = rows.per_channel = plane;
    rows.channel_rows = channels;
    rows.epsilon = epsilon_;
    rows.weight = weight_.data();
    rows.bias = bias_.data();
    rows.activation = activation_;
    normalize_rows(rows, x, y, pool);
  }

  bool writes_over(int) const override { return true; }
  bool reads(int, Layout layout) const override { return layout == Layout::plain || blocked_; }
  bool writes(Layout layout) const override { return layout == Layout::plain || blocked_; }

 private:
  struct State final : KernelState {
    Scratch in;
  };

  float epsilon_;
  bool blocked_;
  Buffer weight_, bias_;
  Unary activation_;
  std::string name_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto x = graph.input(root, 0);
  const auto& shape = graph.fact(x).shape;
  if (!is_f32(graph, x) || !shape.has_rank() || shape.rank() < 4 || !shape[1].is_static()) return std::nullopt;
  const auto rank = shape.rank(), channels = shape[1].length();
  const auto& attrs = graph.attrs<MvnAttrs>(root);
  auto axes = constant_axes(graph, graph.input(root, 1), rank);
  if (!axes || std::ssize(*axes) != rank - 2 || channels == 0 || !attrs.normalize_variance ||
      attrs.eps_mode != MvnEps::inside_sqrt)
    return std::nullopt;
  std::sort(axes->begin(), axes->end());
  for (i64 i = 0; i < rank - 2; ++i)
    if ((*axes)[i] != i + 2) return std::nullopt;
  Match match{{root}, {x}, nullptr};
  std::string name = "instance_normalization";
  const auto take = [&](std::string_view type, float otherwise) {
    Buffer numbers(channels);
    std::fill_n(numbers.data(), channels, otherwise);
    const auto last = match.nodes.back(), next = graph.only_user({last, 0});
    if (graph.type(next) != type || graph.attrs<BroadcastAttrs>(next).rule().kind == AutoBroadcast::pdpd)
      return numbers;
    const auto given =
        by_channel(graph, graph.input(next, graph.input(next, 0).node == last ? 1 : 0), rank, 1, channels);
    if (given.empty()) return numbers;
    std::copy(given.begin(), given.end(), numbers.data());
    match.nodes.push_back(next);
    name += "+" + std::string(type);
    return numbers;
  };
  auto weight = take("Multiply", 1);
  auto bias = take("Add", 0);
  const auto next = graph.only_user({match.nodes.back(), 0});
  const auto activation = next < 0 ? std::nullopt : function_of(graph, next);
  if (activation) {
    match.nodes.push_back(next);
    name += "+" + std::string(graph.type(next));
  }
  match.kernel = std::make_unique<InstanceNormalization>(
      attrs.eps, rank <= 5 && can_normalize_blocked(channels, channels), std::move(weight), std::move(bias),
      activation.value_or(Unary{}), std::move(name));
  return match;
}

constexpr std::string_view kRoots[] = {"MVN"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "instance_normalization", .roots = kRoots, .match = match, .priority = Priority::packed};

}  // namespace ovir::fast::patterns::instance_normalization
