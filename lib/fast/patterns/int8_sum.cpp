// Add-1 of two values of the same shape, either of which may be stored as levels, with the bounds and the FakeQuantize
// that follow: for Precision::int8.
#include <array>

#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kernels/elementwise/u8_elements.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/int8_ending.hpp"

namespace ovir::fast::patterns::int8_sum {
namespace {

class U8Sum final : public Kernel {
 public:
  /// `operands`: null where they are f32.
  U8Sum(std::array<std::unique_ptr<const U8Table>, 2> operands, const Bounds& bounds, const Levels& levels,
        i64 channels, std::string name)
      : operands_(std::move(operands)),
        bounds_(bounds),
        quantization_(levels.quantization),
        table_(levels, channels),
        name_(std::move(name)) {}

  std::string name() const override { return name_; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    auto state = std::make_unique<State>();
    const auto& y = sizes.out[0];
    const auto blocks = y.dim(0) * blocks_of(y.dim(1)) * kBlock * plane_of(y);
    for (std::size_t i = 0; i < operands_.size(); ++i)
      if (sizes.in[i].layout == Layout::plain) state->in[i] = state->reserve(blocks);
    if (y.type == ElementType::f32) state->out = state->reserve(y.dim(0) * u8_blocks(y.dim(1)) * kBlock * plane_of(y));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    auto& pool = runtime.pool();
    const auto& y = out[0];
    const auto batch = y.dim(0), channels = y.dim(1), plane = plane_of(y);
    std::array<U8Operand, 2> summands;
    for (std::size_t i = 0; i < summands.size(); ++i) {
      auto& summand = summands[i];
      if (in[i].type == ElementType::u8) {
        summand.levels = in[i].as<const std::uint8_t>();
        summand.scale = operands_[i]->scale();
        continue;
      }
      summand.wide = in[i].as<const float>();
      if (!state.in[i]) continue;
      to_blocked(summand.wide, state.floats(state.in[i]), batch, channels, plane, pool);
      summand.wide = state.floats(state.in[i]);
    }
    auto* levels =
        state.out ? reinterpret_cast<std::uint8_t*>(state.floats(state.out)) : reinterpret_cast<std::uint8_t*>(y.data);
    u8_sum(summands[0], summands[1], bounds_.low, bounds_.high, table_.scale(), levels, batch, channels, plane, pool);
    if (state.out)
      from_u8_blocked(levels, table_.scale(), y.as<float>(), y.layout == Layout::blocked, batch, channels, plane, pool);
  }

  bool reads(int, Layout) const override { return true; }
  bool writes(Layout) const override { return true; }
  bool reads_as(int input, ElementType type, Layout layout) const override {
    return type == ElementType::u8 && layout == Layout::blocked && operands_[input];
  }
  bool writes_as(ElementType type, Layout layout) const override {
    return type == ElementType::u8 && layout == Layout::blocked;
  }
  std::shared_ptr<const ovir::Quantization> quantization() const override { return quantization_; }

 private:
  struct State final : KernelState {
    std::array<Scratch, 2> in;
    Scratch out;
  };
  static i64 plane_of(const View& v) { return v.size() / (v.dim(0) * v.dim(1)); }

  std::array<std::unique_ptr<const U8Table>, 2> operands_;
  Bounds bounds_;
  std::shared_ptr<const ovir::Quantization> quantization_;
  U8Table table_;
  std::string name_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  constexpr i64 kFewChannels = kBlock / 2;
  const auto a = graph.input(root, 0), b = graph.input(root, 1);
  const auto& shape = graph.fact({root, 0}).shape;
  const bool has_blocks = shape.is_static() && (shape.rank() == 3 || shape.rank() == 4);
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
  std::array<std::unique_ptr<const U8Table>, 2> operands;
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (const auto of = levels_of(graph, match.inputs[i]); of && of->is_single())
      operands[i] = std::make_unique<const U8Table>(*of, channels);
  match.kernel = std::make_unique<U8Sum>(std::move(operands), bounds, *levels, channels, std::move(name));
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
