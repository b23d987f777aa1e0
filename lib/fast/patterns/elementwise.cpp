// Chains of elementwise operations in f32, in one pass over memory, and the Converts to f32 before and from f32 behind
// them.
#include <algorithm>
#include <array>

#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kernels/elementwise/bf16_chain.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/levels.hpp"
#include "fast/kit/operation_chain.hpp"

namespace ovir::fast::patterns::elementwise {
namespace {

/// "If slope input rank is 1 and its dimension is equal to the second dimension of data input, then per channel
/// broadcast is applied." What is left of leading axes is 1.
bool are_by_channel(std::span<const i64> slopes, std::span<const i64> out) {
  return slopes.size() == 1 && out.size() > 1 && slopes[0] == out[1];
}

/// Whether numbers that are small stay finite ones.
bool stays_finite(const ChainProgram& program) {
  return std::ranges::all_of(program.steps, [](const ChainStep& step) {
    return step.kind == ChainStep::binary ? step.operation <= Binary::minimum && step.operation != Binary::divide
                                          : step.function.f <= Function::mish;
  });
}

class ElementwiseChain final : public Kernel {
 public:
  /// `extents`: by operand, where blocked values can be computed as they are; empty: they cannot. `narrow`: also those
  /// in bf16. `levels`: by operand; null: it is not stored as such.
  ElementwiseChain(ChainProgram program, std::vector<bool> slopes, std::vector<ElementType> types,
                   std::vector<Extent> extents, bool narrow, std::vector<std::unique_ptr<const U8Table>> levels,
                   std::string name)
      : program_(std::move(program)),
        slopes_(std::move(slopes)),
        types_(std::move(types)),
        extents_(std::move(extents)),
        narrow_(narrow),
        levels_(std::move(levels)),
        in_registers_(narrow ? Bf16Chain::of(program_, extents_) : std::nullopt),
        name_(std::move(name)) {}

  std::string name() const override { return name_; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto& out = sizes.out[0];
    const auto is_blocked = [](const View& v) { return v.layout == Layout::blocked; };
    if (!is_blocked(out) && std::none_of(sizes.in.begin(), sizes.in.end(), is_blocked)) {
      std::vector<std::span<const i64>> shapes;
      for (const auto& v : sizes.in) shapes.push_back(v.dims);
      std::vector<i64> channels(out.dims.size(), 1);
      for (std::size_t i = 0; i < shapes.size(); ++i) {
        if (!slopes_[i]) continue;
        if (are_by_channel(shapes[i], out.dims)) {
          channels[1] = out.dim(1);
          shapes[i] = std::span(channels).subspan(1);
        } else if (shapes[i].size() > out.dims.size()) {
          shapes[i] = shapes[i].last(out.dims.size());
        }
      }
      return std::make_unique<State>(Chain(program_, shapes, out.dims, types_, out.type));
    }
    // [N][C/16][plane][16], or of bf16 [N][C/32][plane][32]; operands that lie plainly are brought into it.
    const bool narrow = out.type == ElementType::bf16;
    const auto lanes = narrow ? 2 * kBlock : kBlock;
    const auto batch = out.dim(0), channels = out.dim(1), blocks = ceil_div(channels, lanes);
    const auto plane = out.size() / (batch * channels);
    const i64 full[] = {batch, blocks, plane, lanes}, one[] = {1};
    std::vector<std::array<i64, 4>> by_channel(sizes.in.size());
    std::vector<std::span<const i64>> shapes;
    for (std::size_t i = 0; i < sizes.in.size(); ++i) {
      by_channel[i] = {sizes.in[i].size() / channels, blocks, 1, lanes};
      if (extents_[i] == Extent::channel) shapes.emplace_back(by_channel[i]);
      else shapes.push_back(extents_[i] == Extent::full ? std::span<const i64>(full) : std::span<const i64>(one));
    }
    auto types = types_;
    for (std::size_t i = 0; narrow && i < types.size(); ++i)
      if (extents_[i] == Extent::full) types[i] = ElementType::bf16;
    const auto size = batch * blocks * plane * lanes;
    auto state = std::make_unique<State>(Chain(program_, shapes, full, types, out.type));
    state->lanes = lanes;
    state->batch = batch;
    state->channels = channels;
    state->plane = plane;
    state->reordered.resize(sizes.in.size());
    for (std::size_t i = 0; i < sizes.in.size(); ++i) {
      state->by_image.push_back(sizes.in[i].size() > channels);
      if (extents_[i] == Extent::full && (!is_blocked(sizes.in[i]) || sizes.in[i].type == ElementType::u8))
        state->reordered[i] = state->reserve(size);
      if (extents_[i] == Extent::channel && channels % lanes > 0)
        state->reordered[i] = state->reserve(sizes.in[i].size() / channels * blocks * lanes);
    }
    if (!is_blocked(out)) state->out = state->reserve(size);
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    auto& pool = runtime.pool();
    std::array<const void*, ChainProgram::kInputs> data;
    for (std::size_t i = 0; i < in.size(); ++i) {
      data[i] = in[i].data;
      if (i >= state.reordered.size() || !state.reordered[i]) continue;
      auto* blocked = state.floats(state.reordered[i]);
      if (extents_[i] == Extent::channel) fill_blocks(in[i], state.channels, state.lanes, blocked);
      else if (in[i].type == ElementType::u8 && in[i].layout == Layout::blocked)
        from_u8_blocked(in[i].as<const std::uint8_t>(), levels_[i]->scale(), blocked, true, state.batch, state.channels,
                        state.plane, pool);
      else to_blocked(in[i].as<const float>(), blocked, state.batch, state.channels, state.plane, pool);
      data[i] = blocked;
    }
    if (in_registers_ && out[0].type == ElementType::bf16)
      return in_registers_->run(std::span(data).first(in.size()), state.by_image,
                                reinterpret_cast<std::uint16_t*>(out[0].data),
                                {state.batch, ceil_div(state.channels, state.lanes), state.plane}, pool);
    void* const y = state.out ? static_cast<void*>(state.floats(state.out)) : out[0].data;
    state.chain.run(std::span(data).first(in.size()), y, pool);
    if (state.out)
      to_plain(static_cast<const float*>(y), out[0].as<float>(), state.batch, state.channels, state.plane, pool);
  }

  /// Values are read before they are written, and an input of as many bytes lies as the output does.
  bool writes_over(int) const override { return true; }
  bool reads(int input, Layout layout) const override {
    return layout == Layout::plain || (!extents_.empty() && extents_[input] == Extent::full);
  }
  bool writes(Layout layout) const override { return layout == Layout::plain || !extents_.empty(); }
  bool reads_as(int input, ElementType type, Layout layout) const override {
    const bool is_read =
        type == ElementType::u8 ? layout == Layout::blocked && levels_[input] : writes_as(type, layout);
    return is_read && extents_[input] == Extent::full;
  }
  bool writes_as(ElementType type, Layout layout) const override {
    return type == ElementType::bf16 && layout == Layout::blocked && narrow_;
  }
  bool keeps(ElementType type) const override { return type == ElementType::bf16; }

 private:
  /// Numbers by channel, where channels do not fill their blocks.
  static void fill_blocks(const View& x, i64 channels, i64 lanes, float* to) {
    const auto padded = round_up(channels, lanes);
    const auto* from = x.as<const float>();
    for (i64 row = 0; row < x.size() / channels; ++row, from += channels, to += padded)
      std::fill(std::copy_n(from, channels, to), to + padded, 0.0f);
  }

  struct State final : KernelState {
    explicit State(Chain c) : chain(std::move(c)) {}
    Chain chain;
    std::vector<bool> by_image;  // by operand: whether each image has its own, where it is by channel
    i64 batch = 0, channels = 0, plane = 0, lanes = 0;
    std::vector<Scratch> reordered;  // by operand
    Scratch out;
  };
  ChainProgram program_;
  std::vector<bool> slopes_;        // by operand
  std::vector<ElementType> types_;  // by operand
  std::vector<Extent> extents_;
  bool narrow_;
  std::vector<std::unique_ptr<const U8Table>> levels_;  // by operand
  std::optional<Bf16Chain> in_registers_;
  std::string name_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  // The last node of a chain takes those before it.
  const auto& shape = graph.fact({root, 0}).shape;
  const auto user = graph.only_user({root, 0});
  if (is_elementwise(graph, user) && shape.is_static() && graph.fact({user, 0}).shape == shape) return std::nullopt;
  if (is_elementwise(graph, root) && convert_after(graph, root) >= 0) return std::nullopt;
  auto chain = operation_chain(graph, root, true);
  if (!chain) return std::nullopt;
  Match match{std::move(chain->nodes), {}, nullptr};
  std::vector<bool> slopes;
  std::vector<ElementType> types;
  for (const auto& operand : chain->operands) {
    match.inputs.push_back(operand.value);
    slopes.push_back(operand.slopes);
    types.push_back(operand.type);
  }
  const bool narrow =
      !chain->extents.empty() && (shape[1].length() % (2 * kBlock) == 0 || stays_finite(chain->program));
  std::vector<std::unique_ptr<const U8Table>> levels(types.size());
  for (std::size_t i = 0; i < chain->extents.size() && graph.options().precision == Precision::int8; ++i)
    if (const auto of = levels_of(graph, match.inputs[i]); of && chain->extents[i] == Extent::full)
      levels[i] = std::make_unique<const U8Table>(*of, shape[1].length());
  match.kernel = std::make_unique<ElementwiseChain>(std::move(chain->program), std::move(slopes), std::move(types),
                                                    std::move(chain->extents), narrow, std::move(levels),
                                                    "elementwise." + chain->name);
  return match;
}

// clang-format off
constexpr std::string_view kRoots[] = {
    "Abs", "Acos", "Acosh", "Add", "Asin", "Asinh", "Atan", "Atanh", "Ceiling", "Clamp", "Convert", "Cos", "Cosh",
    "Divide", "Elu", "Erf", "Exp", "Floor", "FloorMod", "Gelu", "HSigmoid", "HSwish", "HardSigmoid", "Log",
    "Maximum", "Minimum", "Mish", "Mod", "Multiply", "Negative", "PRelu", "Power", "Relu", "Round", "Selu", "Sigmoid",
    "Sign", "Sin", "Sinh", "SoftPlus", "SoftSign", "Sqrt", "SquaredDifference", "Subtract", "Swish", "Tan", "Tanh"};
// clang-format on

}  // namespace

extern constinit const Pattern pattern{
    .name = "elementwise", .roots = kRoots, .match = match, .priority = Priority::elements};

}  // namespace ovir::fast::patterns::elementwise
