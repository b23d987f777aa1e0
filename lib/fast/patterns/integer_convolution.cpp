// Convolution-1 of u8 less a zero point by constant filters of i32, brought to f32 and multiplied by a step, with a
// bias: what DynamicQuantizeLinear and ConvInteger of ONNX become. Zero point and step are operands.
#include <algorithm>
#include <limits>

#include "fast/kernels/chunks.hpp"
#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kernels/convolution/u8.hpp"
#include "fast/kernels/pair_excess.hpp"
#include "fast/kit/convolutions.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/integers.hpp"
#include "fast/kit/levels.hpp"

namespace ovir::fast::patterns::integer_convolution {
namespace {

/// Filters [outputs][channels][taps] as i8; empty where some of them are no i8.
std::vector<std::int8_t> filters_of(const Tensor& t) {
  std::vector<std::int8_t> to(t.size());
  const auto* from = t.data<std::int32_t>();
  for (i64 i = 0; i < t.size(); ++i) {
    if (from[i] < -128 || from[i] > 127) return {};
    to[i] = static_cast<std::int8_t>(from[i]);
  }
  return to;
}

class IntegerConvolution final : public Kernel {
 public:
  /// `zero`, `step`: their places among the operands, -1: 0 and 1. `bias`: by output.
  IntegerConvolution(const StaticConvolution& convolution, const std::vector<std::int8_t>& filters, int zero, int step,
                     Buffer bias, bool once, ThreadPool& pool)
      : windows_(convolution.windows), known_(convolution.shape), zero_(zero), step_(step), bias_(std::move(bias)) {
    const NarrowGeometry g(known_, 4);
    filters_ = Buffer(g.filters_size(), pool);
    auto* const packed = reinterpret_cast<Word*>(filters_.data());
    u8_pack(g, filters.data(), packed, pool);
    if (!once) excesses_ = PairExcesses(packed, g.panels(), g.panel_steps(), known_.out_plane(), pool);
    const auto each = known_.channels * known_.taps();
    for (i64 o = 0; o < known_.outputs; ++o) sums_.push_back(integer_sums(filters.data() + o * each, each).total);
    const auto lanes = u8_blocks(known_.channels) * 4 * kBlock;
    as_they_are_ = Buffer(2 * lanes);
    std::fill_n(as_they_are_.data(), lanes, 1.0f);
    std::fill_n(as_they_are_.data() + lanes, lanes, 0.0f);
  }

  std::string name() const override {
    return std::string("integer.convolution") + (step_ >= 0 ? "+step" : "") + (bias_.size() > 0 ? "+bias" : "");
  }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    const auto &x = sizes.in[0], &y = sizes.out[0];
    if (!keeps_plane(x, known_)) return nullptr;
    for (const auto operand : {zero_, step_})
      if (operand >= 0 && sizes.in[operand].size() != 1) return nullptr;
    auto state = std::make_unique<State>();
    const auto& s = state->shape = with_planes(windows_, known_, x.dims, y.dims);
    const NarrowGeometry g(s, 4);
    state->in = state->reserve(x.size());
    state->levels = state->reserve(g.image ? g.images_size() : s.batch * u8_blocks(s.channels) * s.plane() * kBlock);
    state->lines = state->reserve(2 * line_size());
    if (y.layout == Layout::plain) state->out = state->reserve(s.batch * blocks_of(s.outputs) * s.out_plane() * kBlock);
    if (!g.image) state->scratch = state->reserve(g.scratch_size(runtime.threads()));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    auto& pool = runtime.pool();
    const auto& s = state.shape;
    const NarrowGeometry g(s, 4);
    const auto zero = zero_ >= 0 ? *in[zero_].as<const std::uint8_t>() : std::uint8_t{0};
    const auto step = step_ >= 0 ? *in[step_].as<const float>() : 1.0f;
    auto *const scale = state.floats(state.lines), *const shift = scale + line_size();
    std::fill_n(scale, 2 * line_size(), 0.0f);
    for (i64 o = 0; o < s.outputs; ++o) {
      scale[o] = step;
      const auto bias = bias_.size() > 0 ? double{bias_.data()[o]} : 0;
      shift[o] = static_cast<float>(bias - double{step} * static_cast<double>(zero * sums_[o]));
    }
    auto* const wide = state.floats(state.in);
    parallel_ranges(pool, in[0].size(), 0.25, [&](i64 begin, i64 end) {
      const auto* bytes = in[0].as<const std::uint8_t>();
      for (auto i = begin; i < end; ++i) wide[i] = bytes[i];
    });
    const auto* ones = as_they_are_.data();
    const auto* zeros = ones + as_they_are_.size() / 2;
    const U8Scale levels{.by = ones, .plus = zeros, .low = zeros, .scale = ones, .max_level = 255};
    auto* const x = reinterpret_cast<Word*>(state.floats(state.levels));
    if (g.image) image_to_u8(g, wide, levels, zero, x, pool);
    else to_u8_blocked(wide, false, levels, reinterpret_cast<std::uint8_t*>(x), s.batch, s.channels, s.plane(), pool);
    constexpr auto kInfinity = std::numeric_limits<float>::infinity();
    U8Epilogue e{};
    e.scale = scale;
    e.shift = shift;
    e.low = e.min = -kInfinity;
    e.high = e.max = kInfinity;
    e.own = 1;
    e.excess = excesses_.data();
    auto* const y = state.out ? state.floats(state.out) : out[0].as<float>();
    u8_convolution(g, reinterpret_cast<const Word*>(filters_.data()), x, zero, {.wide = y}, {}, e,
                   reinterpret_cast<Word*>(state.floats(state.scratch)), pool);
    if (state.out) to_plain(y, out[0].as<float>(), s.batch, s.outputs, s.out_plane(), pool);
  }

  bool writes(Layout) const override { return true; }

 private:
  struct State final : KernelState {
    ConvolutionShape shape;
    Scratch in, levels, lines, out, scratch;
  };

  i64 line_size() const { return round_up(known_.outputs, kColumns); }

  ConvolutionWindows windows_;
  ConvolutionShape known_;
  Buffer filters_;
  PairExcesses excesses_;
  std::vector<i64> sums_;  // of filters
  int zero_, step_;
  Buffer bias_;
  Buffer as_they_are_;  // factors of 1 and offsets of 0
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto convolution = static_convolution(graph, root, 4, false, NarrowGeometry::kMaxTaps, ElementType::i32);
  const auto* constant = graph.constant(graph.input(root, 1));
  if (!convolution || convolution->open || !constant) return std::nullopt;
  const auto& s = convolution->shape;
  if (s.groups > 1 || s.channels * s.taps() > (i64{1} << 16)) return std::nullopt;  // sums fit 32 bits
  auto found = integer_product(graph, root, 0);
  const auto filters = found ? filters_of(*constant) : std::vector<std::int8_t>();
  if (filters.empty()) return std::nullopt;
  auto& match = found->match;
  const auto before = match.nodes.size();
  auto bias = take_by_channel(graph, match, "Add", convolution->rank, s.outputs, 0);
  if (match.nodes.size() == before) bias = Buffer();
  match.kernel = std::make_unique<IntegerConvolution>(*convolution, filters, found->zero, found->step, std::move(bias),
                                                      !graph.options().steady(), graph.packers(s.weights()));
  return std::move(match);
}

constexpr std::string_view kRoots[] = {"Convolution"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "integer_convolution", .roots = kRoots, .match = match, .priority = Priority::narrow, .groups_only = true};

}  // namespace ovir::fast::patterns::integer_convolution
