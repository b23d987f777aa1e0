// ConvolutionBackpropData-1 of quantized values by quantized weights in integers, where windows lie side by side: with
// the bias, bounds and FakeQuantize that follow, for Precision::int8.
#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kernels/convolution/transposed_u8.hpp"
#include "fast/kit/int8_filters.hpp"

namespace ovir::fast::patterns::int8_convolution_transposed {
namespace {

/// What such a convolution reads.
struct Operands {
  StaticConvolution convolution;
  Levels in;
  I8Weights weights;

  static std::optional<Operands> of(const Graphlet& graph, int root, decltype(i8_weights) weights_of) {
    auto convolution = static_convolution(graph, root);
    if (!convolution || convolution->open || convolution->rank != 4 || graph.input(root, 2).node >= 0)
      return std::nullopt;
    const auto& s = convolution->shape;
    if (s.groups > 1 || s.taps() == 1 || !s.has_windows_apart()) return std::nullopt;
    auto in = levels_of(graph, convolution->data);
    if (!in || !in->is_single()) return std::nullopt;
    auto weights = weights_of(graph, root, 1, Outputs{.count = s.outputs, .second = true});
    if (!weights) return std::nullopt;
    return Operands{*std::move(convolution), *std::move(in), *std::move(weights)};
  }
};

class U8Transposed final : public Kernel {
 public:
  /// `windows`: what is convolved; `phases`: the pointwise convolutions.
  U8Transposed(const ConvolutionShape& windows, const Levels& in, const std::vector<U8Layer>& phases)
      : windows_(windows), point_(phases[0].shape), in_(in, windows.channels) {
    const auto& ending = phases[0].ending;
    name_ = "int8.transposed_convolution" + ending.name;
    for (const auto& phase : phases) filters_.push_back(std::make_unique<const U8Filters>(phase, false));
    for (const auto& filters : filters_) phases_.push_back({filters->words(), &filters->epilogue()});
    if (const auto* result = ending.result()) out_.emplace(*result, windows.outputs);
  }

  std::string name() const override { return name_; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto &x = sizes.in[0], &y = sizes.out[0];
    if (!keeps_plane(x, windows_)) return nullptr;
    auto state = std::make_unique<State>();
    state->point = point_;
    state->point.batch = x.dim(0);
    if (x.type == ElementType::f32) state->in = state->reserve(ChannelLevels::words(x));
    if (out_ && y.type == ElementType::f32) state->out = state->reserve(ChannelLevels::words(y));
    if (!out_ && y.layout == Layout::plain)
      state->out = state->reserve(y.dim(0) * blocks_of(y.dim(1)) * kBlock * plane_of(y));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    auto& pool = runtime.pool();
    const auto& s = state.point;
    const auto& to = out[0];
    const auto* x = in_.take(in[0], state.in ? state.floats(state.in) : nullptr, pool);
    auto* const room = state.out ? reinterpret_cast<std::byte*>(state.floats(state.out)) : to.data;
    U8Blocked y;
    if (out_) y.levels = reinterpret_cast<std::uint8_t*>(room);
    else y.wide = reinterpret_cast<float*>(room);
    u8_transposed(s, windows_.stride_y, windows_.stride_x, phases_, reinterpret_cast<const Word*>(x), y, pool);
    if (!state.out) return;
    if (out_) out_->give(room, to, pool);
    else to_plain(y.wide, to.as<float>(), s.batch, s.outputs, windows_.out_plane(), pool);
  }

  bool reads(int, Layout) const override { return true; }
  bool writes(Layout) const override { return true; }
  bool reads_as(int, ElementType type, Layout layout) const override {
    return type == ElementType::u8 && layout == Layout::blocked;
  }
  bool writes_as(ElementType type, Layout layout) const override {
    return type == ElementType::u8 && layout == Layout::blocked && out_;
  }
  std::shared_ptr<const ovir::Quantization> quantization() const override {
    return out_ ? out_->quantization() : nullptr;
  }

 private:
  struct State final : KernelState {
    ConvolutionShape point;
    Scratch in, out;
  };

  ConvolutionShape windows_, point_;
  ChannelLevels in_;
  std::string name_;
  std::vector<std::unique_ptr<const U8Filters>> filters_;
  std::vector<U8Phase> phases_;
  std::optional<ChannelLevels> out_;
};

/// Weights [channels][outputs][taps] of one tap, as [outputs][channels].
Tensor weights_of_tap(const ConvolutionShape& s, const Tensor& weights, i64 tap) {
  Tensor values(ElementType::i8, {s.outputs, s.channels});
  const auto* from = weights.data<std::int8_t>() + tap;
  auto* to = values.mutable_data<std::int8_t>();
  for (i64 c = 0; c < s.channels; ++c)
    for (i64 o = 0; o < s.outputs; ++o) to[o * s.channels + c] = from[(c * s.outputs + o) * s.taps()];
  return values;
}

std::optional<Match> match(const Graphlet& graph, int root) {
  auto operands = Operands::of(graph, root, i8_weights);
  if (!operands) return std::nullopt;
  auto& [convolution, in, weights] = *operands;
  const auto& s = convolution.shape;
  Match match{weights.nodes, {convolution.data}, nullptr};
  match.nodes.push_back(root);
  const auto ending = take_u8_ending(graph, match, convolution.rank, s.outputs, false);
  if (ending.pool || (ending.is_activated() && !ending.activates_in_loops())) return std::nullopt;
  auto point = s;
  point.out_height = s.height;
  point.out_width = s.width;
  point.kernel_height = point.kernel_width = point.stride_y = point.stride_x = 1;
  std::vector<U8Layer> phases;
  for (i64 tap = 0; tap < s.taps(); ++tap)
    phases.push_back({.windows = {},
                      .shape = point,
                      .weights = {weights_of_tap(s, weights.values, tap), weights.scale},
                      .in = in,
                      .pads = {0},
                      .ending = ending,
                      .nodes = {},
                      .inputs = {},
                      .often = graph.options().steady(),
                      .winograd = false,
                      .averages = false,
                      .graph = &graph});
  match.kernel = std::make_unique<U8Transposed>(s, in, phases);
  return match;
}

std::vector<int> weights_nodes(const Graphlet& graph, int root) {
  auto operands = Operands::of(graph, root, stored_i8_weights);
  return operands ? std::move(operands->weights.nodes) : std::vector<int>();
}

constexpr std::string_view kRoots[] = {"ConvolutionBackpropData"};

}  // namespace

extern constinit const Pattern pattern{.name = "int8_convolution_transposed",
                                       .roots = kRoots,
                                       .match = match,
                                       .unfolded = weights_nodes,
                                       .priority = Priority::narrow,
                                       .precision = Precision::int8};

}  // namespace ovir::fast::patterns::int8_convolution_transposed
