// Add-1 of two values of the same shape, either of which may be stored as levels, with the bounds and the FakeQuantize
// that follow: for Precision::int8.
#include <array>

#include "fast/kit/functions.hpp"
#include "fast/kit/int8_ending.hpp"
#include "fast/kit/int8_operands.hpp"

namespace ovir::fast::patterns::int8_sum {
namespace {

class U8Sum final : public Kernel {
 public:
  U8Sum(std::array<U8Source, 2> summands, const Bounds& bounds, const Levels& levels, i64 channels, std::string name)
      : summands_(std::move(summands)), bounds_(bounds), levels_(levels, channels), name_(std::move(name)) {}

  std::string name() const override { return name_; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    auto state = std::make_unique<State>();
    for (std::size_t i = 0; i < summands_.size(); ++i)
      state->in[i] = state->reserve(U8Source::scratch_size(sizes.in[i]));
    if (sizes.out[0].type == ElementType::f32) state->out = state->reserve(ChannelLevels::words(sizes.out[0]));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    auto& pool = runtime.pool();
    const auto& y = out[0];
    const auto summand = [&](std::size_t i) { return summands_[i].take(in[i], state.floats(state.in[i]), pool); };
    auto* levels = state.out ? reinterpret_cast<std::byte*>(state.floats(state.out)) : y.data;
    u8_sum(summand(0), summand(1), bounds_.low, bounds_.high, levels_.scale(), reinterpret_cast<std::uint8_t*>(levels),
           y.dim(0), y.dim(1), plane_of(y), pool);
    if (state.out) levels_.give(levels, y, pool);
  }

  bool reads(int, Layout) const override { return true; }
  bool writes(Layout) const override { return true; }
  bool reads_as(int input, ElementType type, Layout layout) const override {
    return summands_[input].reads_as(type, layout);
  }
  bool writes_as(ElementType type, Layout layout) const override {
    return type == ElementType::u8 && layout == Layout::blocked;
  }
  std::shared_ptr<const ovir::Quantization> quantization() const override { return levels_.quantization(); }

 private:
  struct State final : KernelState {
    std::array<Scratch, 2> in;
    Scratch out;
  };

  std::array<U8Source, 2> summands_;
  Bounds bounds_;
  ChannelLevels levels_;
  std::string name_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  constexpr i64 kFewChannels = kBlock / 2;
  const auto a = graph.input(root, 0), b = graph.input(root, 1);
  const auto& shape = graph.fact({root, 0}).shape;
  const bool has_blocks = shape.is_static() && (shape.rank() >= 3 && shape.rank() <= 5);
  if (!has_blocks || shape[1].length() < kFewChannels || !is_f32(graph, a) || !is_residual(graph, a, b) ||
      graph.constant(a))
    return std::nullopt;
  Match match{{root}, {a, b}, nullptr};
  std::string name = "int8.Add";
  const auto take = [&](int node, std::string_view as) {
    match.nodes.push_back(node);
    (name += "+") += as;
  };
  Bounds bounds;
  auto next = graph.only_user({root, 0});
  if (const auto function = function_of(graph, next); function && function->f == Function::clamp) {
    bounds = {function->a, function->b};
    take(next, graph.type(next));
    next = graph.only_user({next, 0});
  }
  if (graph.type(next) != "FakeQuantize" || graph.input(next, 0).node != match.nodes.back()) return std::nullopt;
  const auto levels = levels_of(graph, {next, 0});
  if (!levels || !levels->is_single()) return std::nullopt;
  take(next, "quantize");
  const auto channels = shape[1].length();
  const auto summand = [&](ValueRef v) {
    const auto own = levels_of(graph, v);
    return U8Source(own && own->is_single() ? own : std::nullopt, channels);
  };
  match.kernel =
      std::make_unique<U8Sum>(std::array{summand(a), summand(b)}, bounds, *levels, channels, std::move(name));
  return match;
}

constexpr std::string_view kRoots[] = {"Add"};

}  // namespace

extern constinit const Pattern pattern{.name = "int8_sum",
                                       .roots = kRoots,
                                       .match = match,
                                       .priority = Priority::narrow,
                                       .precision = Precision::int8,
                                       .groups_only = true};

}  // namespace ovir::fast::patterns::int8_sum
