// Multiply-1 of a value, which may be stored as levels, by one that has a number for each channel, as squeeze and
// excitation have it, with the FakeQuantize that follows: for Precision::int8.
#include "fast/kit/functions.hpp"
#include "fast/kit/int8_operands.hpp"

namespace ovir::fast::patterns::int8_gate {
namespace {

/// Inputs: the value, then the numbers of its channels.
class U8Gate final : public Kernel {
 public:
  /// `from`: of the value, where it may be levels.
  U8Gate(const std::optional<Levels>& from, const Levels& levels, i64 channels)
      : source_(from, channels), levels_(levels, channels) {}

  std::string name() const override { return "int8.gate+quantize"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    auto state = std::make_unique<State>();
    state->in = state->reserve(U8Source::scratch_size(sizes.in[0]));
    if (sizes.out[0].type == ElementType::f32) state->out = state->reserve(ChannelLevels::words(sizes.out[0]));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    auto& pool = runtime.pool();
    const auto& y = out[0];
    const auto x = source_.take(in[0], state.floats(state.in), pool);
    auto* levels = state.out ? reinterpret_cast<std::byte*>(state.floats(state.out)) : y.data;
    u8_gate(x, in[1].as<const float>(), in[1].size() > y.dim(1), levels_.scale(),
            reinterpret_cast<std::uint8_t*>(levels), y.dim(0), y.dim(1), plane_of(y), pool);
    if (state.out) levels_.give(levels, y, pool);
  }

  bool reads(int input, Layout layout) const override { return layout == Layout::plain || input == 0; }
  bool writes(Layout) const override { return true; }
  bool reads_as(int input, ElementType type, Layout layout) const override {
    return input == 0 && source_.reads_as(type, layout);
  }
  bool writes_as(ElementType type, Layout layout) const override {
    return type == ElementType::u8 && layout == Layout::blocked;
  }
  std::shared_ptr<const ovir::Quantization> quantization() const override { return levels_.quantization(); }

 private:
  struct State final : KernelState {
    Scratch in, out;
  };

  U8Source source_;
  ChannelLevels levels_;
};

/// Whether it has a number for each channel of such a value, known in the run.
bool is_gate(const Graphlet& graph, ValueRef v, const PartialShape& whole) {
  const auto& shape = graph.fact(v).shape;
  if (!is_f32(graph, v) || graph.constant(v) || !shape.is_static() || shape.rank() != whole.rank()) return false;
  for (i64 i = 2; i < shape.rank(); ++i)
    if (shape[i].length() != 1) return false;
  return shape[1] == whole[1] && (shape[0] == whole[0] || shape[0].length() == 1);
}

std::optional<Match> match(const Graphlet& graph, int root) {
  constexpr i64 kFewChannels = kBlock / 2;
  const auto& shape = graph.fact({root, 0}).shape;
  const bool has_blocks = shape.is_static() && (shape.rank() >= 3 && shape.rank() <= 5);
  if (!has_blocks || shape[1].length() < kFewChannels) return std::nullopt;
  const int port = is_gate(graph, graph.input(root, 1), shape) ? 0 : 1;
  const auto x = graph.input(root, port), gate = graph.input(root, 1 - port);
  if (!is_f32(graph, x) || graph.constant(x) || !(graph.fact(x).shape == shape) || !is_gate(graph, gate, shape))
    return std::nullopt;
  const auto next = graph.only_user({root, 0});
  if (graph.type(next) != "FakeQuantize" || graph.input(next, 0).node != root) return std::nullopt;
  const auto levels = levels_of(graph, {next, 0});
  if (!levels) return std::nullopt;
  return Match{{root, next}, {x, gate}, std::make_unique<U8Gate>(levels_of(graph, x), *levels, shape[1].length())};
}

constexpr std::string_view kRoots[] = {"Multiply"};

}  // namespace

extern constinit const Pattern pattern{.name = "int8_gate",
                                       .roots = kRoots,
                                       .match = match,
                                       .priority = Priority::narrow,
                                       .precision = Precision::int8,
                                       .groups_only = true};

}  // namespace ovir::fast::patterns::int8_gate
