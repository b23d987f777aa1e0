// Multiply-1 of a value, which may be stored as levels, by one that has a number for each channel, as squeeze and
// excitation have it, with the FakeQuantize that follows: for Precision::int8.
#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kernels/elementwise/u8_elements.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/levels.hpp"

namespace ovir::fast::patterns::int8_gate {
namespace {

/// Inputs: the value, then the numbers of its channels.
class U8Gate final : public Kernel {
 public:
  /// `from`: of the value, where it may be levels.
  U8Gate(const std::optional<Levels>& from, const Levels& levels, i64 channels)
      : quantization_(levels.quantization), table_(levels, channels) {
    if (from) from_.emplace(*from, channels);
  }

  std::string name() const override { return "int8.gate+quantize"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    auto state = std::make_unique<State>();
    const auto &x = sizes.in[0], &y = sizes.out[0];
    if (x.layout == Layout::plain) state->in = state->reserve(x.dim(0) * blocks_of(x.dim(1)) * kBlock * plane_of(x));
    if (y.type == ElementType::f32) state->out = state->reserve(y.dim(0) * u8_blocks(y.dim(1)) * kBlock * plane_of(y));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    auto& pool = runtime.pool();
    const auto& y = out[0];
    const auto batch = y.dim(0), channels = y.dim(1), plane = plane_of(y);
    U8Operand x;
    if (in[0].type == ElementType::u8) {
      x.levels = in[0].as<const std::uint8_t>();
      x.scale = from_->scale();
    } else {
      x.wide = in[0].as<const float>();
      if (state.in) {
        to_blocked(x.wide, state.floats(state.in), batch, channels, plane, pool);
        x.wide = state.floats(state.in);
      }
    }
    auto* levels = reinterpret_cast<std::uint8_t*>(y.data);
    if (state.out) levels = reinterpret_cast<std::uint8_t*>(state.floats(state.out));
    u8_gate(x, in[1].as<const float>(), in[1].size() > channels, table_.scale(), levels, batch, channels, plane, pool);
    if (state.out)
      from_u8_blocked(levels, table_.scale(), y.as<float>(), y.layout == Layout::blocked, batch, channels, plane, pool);
  }

  bool reads(int input, Layout layout) const override { return layout == Layout::plain || input == 0; }
  bool writes(Layout) const override { return true; }
  bool reads_as(int input, ElementType type, Layout layout) const override {
    return input == 0 && writes_as(type, layout) && from_;
  }
  bool writes_as(ElementType type, Layout layout) const override {
    return type == ElementType::u8 && layout == Layout::blocked;
  }
  std::shared_ptr<const ovir::Quantization> quantization() const override { return quantization_; }

 private:
  struct State final : KernelState {
    Scratch in, out;
  };
  static i64 plane_of(const View& v) { return v.size() / (v.dim(0) * v.dim(1)); }

  std::shared_ptr<const ovir::Quantization> quantization_;
  U8Table table_;
  std::optional<U8Table> from_;
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
  const bool has_blocks = shape.is_static() && (shape.rank() == 3 || shape.rank() == 4);
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
