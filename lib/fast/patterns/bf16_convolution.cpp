// Convolution-1 of one group and depthwise GroupConvolution-1 with constant filters in bf16, with what follows them.
// For Precision::bf16.
#include "fast/kernels/convolution/bf16.hpp"
#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kit/convolutions.hpp"
#include "fast/kit/functions.hpp"

namespace ovir::fast::patterns::bf16_convolution {
namespace {

class Bf16Convolution final : public Kernel {
 public:
  Bf16Convolution(const ConvolutionAttrs& attrs, const ConvolutionShape& s, const float* filters, Ending ending)
      : attrs_(attrs), known_(s), ending_(std::move(ending)) {
    if (s.is_depthwise()) {
      filters_ = Buffer(bf16_depthwise_filters_size(s));
      bf16_depthwise_pack(s, filters, ending_.bias.data(), filters_.data());
    } else {
      const NarrowGeometry geometry(s, 2);
      filters_ = Buffer(geometry.filters_size());
      bf16_pack(geometry, filters, words(filters_));
    }
  }

  std::string name() const override {
    return std::string(known_.is_depthwise() ? "bf16_depthwise" : "bf16") + ".convolution" + ending_.name;
  }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    const auto &x = sizes.in[0], &y = sizes.out[0];
    auto state = std::make_unique<State>(NarrowGeometry(with_planes(attrs_, known_, x.dims, y.dims), 2));
    const auto& g = state->geometry;
    const auto& s = g.s;
    if (s.channels != known_.channels || s.outputs != known_.outputs) return nullptr;
    const auto* residual = ending_.residual < 0 ? nullptr : &sizes.in[static_cast<std::size_t>(ending_.residual)];
    if (residual && residual->size() != y.size()) return nullptr;
    const auto words_in = s.batch * bf16_blocks(s.channels) * s.plane() * kBlock,
               words_out = s.batch * bf16_blocks(s.outputs) * s.out_plane() * kBlock;
    if (x.type == ElementType::f32 && !reads_image()) state->in = state->reserve(words_in);
    if (y.type == ElementType::f32 && (y.layout == Layout::plain || s.is_depthwise()))
      state->out = state->reserve(words_out * 2);
    if (residual && residual->layout == Layout::plain) state->residual = state->reserve(words_out * 2);
    const auto threads = runtime.threads();
    state->scratch =
        state->reserve(s.is_depthwise() ? narrow_depthwise_scratch_size(s, threads) : g.scratch_size(threads));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    const auto& g = state.geometry;
    const auto& s = g.s;
    if (out[0].size() == 0) return;
    auto& pool = runtime.pool();
    const void* x = in[0].data;
    if (state.in) {
      to_bf16_blocked(in[0].as<const float>(), in[0].layout == Layout::blocked, words(state, state.in), s.batch,
                      s.channels, s.plane(), pool);
      x = state.floats(state.in);
    }
    const bool blocked = out[0].layout == Layout::blocked;
    if (s.is_depthwise()) {
      auto* y = state.out ? words(state, state.out) : reinterpret_cast<Word*>(out[0].data);
      bf16_depthwise(s, filters_.data(), static_cast<const Word*>(x), y, ending_.activation,
                     words(state, state.scratch), pool);
      if (state.out) from_bf16_blocked(y, out[0].as<float>(), blocked, s.batch, s.outputs, s.out_plane(), pool);
      return;
    }
    Bf16Blocked residual;
    if (ending_.residual >= 0) residual = blocked_of(in[static_cast<std::size_t>(ending_.residual)]);
    if (state.residual) {
      to_blocked(residual.wide, state.floats(state.residual), s.batch, s.outputs, s.out_plane(), pool);
      residual.wide = state.floats(state.residual);
    }
    auto y = blocked_of(out[0]);
    if (state.out) y.wide = state.floats(state.out);
    fast::bf16_convolution(g, words(filters_), x, y, residual, ending_.epilogue(nullptr), words(state, state.scratch),
                           pool);
    if (state.out) to_plain(y.wide, out[0].as<float>(), s.batch, s.outputs, s.out_plane(), pool);
  }

  bool reads(int input, Layout layout) const override {
    return layout == Layout::plain || input != 0 || !reads_image();
  }
  bool writes(Layout) const override { return true; }
  bool reads_as(int input, ElementType type, Layout layout) const override {
    return type == ElementType::bf16 && layout == Layout::blocked && (input != 0 || !reads_image());
  }
  bool writes_as(ElementType type, Layout layout) const override {
    return type == ElementType::bf16 && layout == Layout::blocked;
  }
  /// Each place of the residual is read before the output's same place is written.
  bool writes_over(int input) const override { return ending_.residual >= 0 && input == ending_.residual; }

 private:
  struct State final : KernelState {
    explicit State(const NarrowGeometry& g) : geometry(g) {}
    NarrowGeometry geometry;
    Scratch in, residual, out, scratch;
  };

  bool reads_image() const { return !known_.is_depthwise() && NarrowGeometry(known_, 2).image; }
  static Word* words(const KernelState& state, const Scratch& s) { return reinterpret_cast<Word*>(state.floats(s)); }
  static Word* words(const Buffer& b) { return fast::words(b); }
  static Bf16Blocked blocked_of(const View& v) {
    if (v.type == ElementType::f32) return {.wide = reinterpret_cast<float*>(v.data)};
    return {.narrow = reinterpret_cast<std::uint16_t*>(v.data)};
  }

  ConvolutionAttrs attrs_;
  ConvolutionShape known_;
  Ending ending_;
  Buffer filters_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto convolution = static_convolution(graph, root);
  const auto* filters = graph.constant(graph.input(root, 1));
  if (!convolution || convolution->open || !filters || filters->type() != ElementType::f32) return std::nullopt;
  const auto& s = convolution->shape;
  if (s.groups > 1 && !s.is_depthwise()) return std::nullopt;
  Match match{{root}, {graph.input(root, 0)}, nullptr};
  auto ending = take_ending(graph, match, convolution->rank, 1, s.outputs);
  if (s.is_depthwise() && (ending.residual >= 0 || ending.slopes.size() > 0)) return std::nullopt;
  match.kernel = std::make_unique<Bf16Convolution>(convolution->attrs, s, filters->data<float>(), std::move(ending));
  return match;
}

constexpr std::string_view kRoots[] = {"Convolution", "GroupConvolution"};

}  // namespace

extern constinit const Pattern pattern{.name = "bf16_convolution",
                                       .roots = kRoots,
                                       .match = match,
                                       .priority = Priority::narrow,
                                       .precision = Precision::bf16};

}  // namespace ovir::fast::patterns::bf16_convolution
