// Chains of elementwise operations in f32, in one pass over memory.
#include <algorithm>
#include <array>

#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kernels/elementwise/chain.hpp"
#include "fast/kit/broadcasting.hpp"
#include "fast/kit/functions.hpp"
#include "op/kit/elementwise_attrs.hpp"

namespace ovir::fast::patterns::elementwise {
namespace {

/// An operand; `slopes`: of PRelu, where one axis alone may be the channels.
struct Operand {
  ValueRef value;
  bool slopes = false;
  bool operator==(const Operand& o) const {
    return value.node == o.value.node && value.port == o.value.port && slopes == o.slopes;
  }
};

/// "If slope input rank is 1 and its dimension is equal to the second dimension of data input, then per channel
/// broadcast is applied." What is left of leading axes is 1.
bool are_by_channel(std::span<const i64> slopes, std::span<const i64> out) {
  return slopes.size() == 1 && out.size() > 1 && slopes[0] == out[1];
}

/// How an operand lies beside an output of [N,C,spatial…]: as wide, one value, or one value a channel.
enum class Extent : std::uint8_t { full, one, channel };

class ElementwiseChain final : public Kernel {
 public:
  /// `extents`: by operand, where blocked values can be computed as they are; empty: they cannot.
  ElementwiseChain(ChainProgram program, std::vector<bool> slopes, std::vector<Extent> extents, std::string name)
      : program_(std::move(program)),
        slopes_(std::move(slopes)),
        extents_(std::move(extents)),
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
      return std::make_unique<State>(Chain(program_, shapes, out.dims));
    }
    // [N][C/16][plane][16]; operands that lie plainly are brought into it.
    const auto batch = out.dim(0), channels = out.dim(1), blocks = channels / kBlock;
    const auto plane = out.size() / (batch * channels);
    const i64 full[] = {batch, blocks, plane, kBlock}, one[] = {1};
    std::vector<std::array<i64, 4>> by_channel(sizes.in.size());
    std::vector<std::span<const i64>> shapes;
    for (std::size_t i = 0; i < sizes.in.size(); ++i) {
      by_channel[i] = {sizes.in[i].size() / channels, blocks, 1, kBlock};
      if (extents_[i] == Extent::channel) shapes.emplace_back(by_channel[i]);
      else shapes.push_back(extents_[i] == Extent::full ? std::span<const i64>(full) : std::span<const i64>(one));
    }
    auto state = std::make_unique<State>(Chain(program_, shapes, full));
    state->batch = batch;
    state->channels = channels;
    state->plane = plane;
    state->reordered.resize(sizes.in.size());
    for (std::size_t i = 0; i < sizes.in.size(); ++i)
      if (extents_[i] == Extent::full && !is_blocked(sizes.in[i])) state->reordered[i] = state->reserve(out.size());
    if (!is_blocked(out)) state->out = state->reserve(out.size());
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    auto& pool = runtime.pool();
    std::array<const float*, ChainProgram::kInputs> data;
    for (std::size_t i = 0; i < in.size(); ++i) {
      data[i] = in[i].as<const float>();
      if (i >= state.reordered.size() || !state.reordered[i]) continue;
      auto* blocked = state.floats(state.reordered[i]);
      to_blocked(data[i], blocked, state.batch, state.channels, state.plane, pool);
      data[i] = blocked;
    }
    auto* y = state.out ? state.floats(state.out) : out[0].as<float>();
    state.chain.run(std::span(data).first(in.size()), y, pool);
    if (state.out) to_plain(y, out[0].as<float>(), state.batch, state.channels, state.plane, pool);
  }

  /// Values are read before they are written, and an input of as many bytes lies as the output does.
  bool writes_over(int) const override { return true; }
  bool reads(int input, Layout layout) const override {
    return layout == Layout::plain || (!extents_.empty() && extents_[input] == Extent::full);
  }
  bool writes(Layout layout) const override { return layout == Layout::plain || !extents_.empty(); }

 private:
  struct State final : KernelState {
    explicit State(Chain c) : chain(std::move(c)) {}
    Chain chain;
    i64 batch = 0, channels = 0, plane = 0;
    std::vector<Scratch> reordered;  // by operand
    Scratch out;
  };
  ChainProgram program_;
  std::vector<bool> slopes_;  // by operand
  std::vector<Extent> extents_;
  std::string name_;
};

/// Empty where an operand lies otherwise, or channels do not fill their blocks.
std::vector<Extent> extents_of(const Graphlet& graph, const std::vector<Operand>& operands, const PartialShape& out) {
  std::vector<Extent> result;
  if (!out.is_static() || out.rank() < 3 || out.rank() > 5 || out[1].length() % kBlock != 0) return {};
  for (const auto& operand : operands) {
    const auto& shape = graph.fact(operand.value).shape;
    if (!shape.is_static()) return {};
    if (operand.slopes && shape.rank() == 1 && shape[0] == out[1]) {
      result.push_back(Extent::channel);
      continue;
    }
    i64 size = 1;
    for (i64 i = 0; i < shape.rank(); ++i) size *= shape[i].length();
    const auto from_end = [&](i64 back) { return back <= shape.rank() ? shape[shape.rank() - back].length() : 1; };
    bool by_channel = from_end(out.rank() - 1) == out[1].length();
    for (i64 back = 1; back < out.rank() - 1; ++back) by_channel = by_channel && from_end(back) == 1;
    if (shape == out) result.push_back(Extent::full);
    else if (size == 1) result.push_back(Extent::one);
    else if (by_channel) result.push_back(Extent::channel);
    else return {};
  }
  return result;
}

std::optional<Binary> operation_of(const Graphlet& graph, int node) {
  struct Entry {
    std::string_view type;
    Binary operation;
  };
  static constexpr Entry kEntries[] = {{"Add", Binary::add},
                                       {"Subtract", Binary::subtract},
                                       {"Multiply", Binary::multiply},
                                       {"Divide", Binary::divide},
                                       {"Maximum", Binary::maximum},
                                       {"Minimum", Binary::minimum},
                                       {"SquaredDifference", Binary::squared_difference},
                                       {"PRelu", Binary::prelu},
                                       {"Mod", Binary::mod},
                                       {"FloorMod", Binary::floor_mod},
                                       {"Power", Binary::power}};
  const auto* entry = std::find_if(std::begin(kEntries), std::end(kEntries),
                                   [&](const Entry& e) { return e.type == graph.type(node); });
  if (entry == std::end(kEntries) || !is_f32(graph, graph.input(node, 0)) || !is_f32(graph, graph.input(node, 1)) ||
      !is_f32(graph, {node, 0}))
    return std::nullopt;
  if (entry->operation == Binary::prelu) return entry->operation;
  return aligns_by_numpy(graph, node) ? std::optional(entry->operation) : std::nullopt;
}

bool is_elementwise(const Graphlet& graph, int node) {
  return node >= 0 && (function_of(graph, node) || operation_of(graph, node));
}

/// What a node reads: a function of constants, its first input alone.
int operands_of(const Graphlet& graph, int node) { return function_of(graph, node) ? 1 : 2; }
Operand operand_of(const Graphlet& graph, int node, int port) {
  return {graph.input(node, port), port == 1 && graph.type(node) == "PRelu"};
}

/// A producer joins the chain of its user if nobody else reads it and it has the output's shape: a smaller one would be
/// computed again and again.
bool joins(const Graphlet& graph, const PartialShape& shape, ValueRef v, int user) {
  return v.node >= 0 && v.port == 0 && graph.only_user(v) == user && is_elementwise(graph, v.node) &&
         shape.is_static() && graph.fact(v).shape == shape;
}

constexpr std::size_t kMaxNodes = 12;

std::optional<Match> match(const Graphlet& graph, int root) {
  if (!is_elementwise(graph, root)) return std::nullopt;
  const auto& shape = graph.fact({root, 0}).shape;
  // The last node of a chain takes those before it.
  const auto user = graph.only_user({root, 0});
  if (is_elementwise(graph, user) && shape.is_static() && graph.fact({user, 0}).shape == shape) return std::nullopt;

  std::vector<int> nodes{root};
  for (std::size_t i = 0; i < nodes.size() && nodes.size() < kMaxNodes; ++i)
    for (int port = 0; port < operands_of(graph, nodes[i]); ++port)
      if (const auto v = graph.input(nodes[i], port); nodes.size() < kMaxNodes && joins(graph, shape, v, nodes[i]))
        nodes.push_back(v.node);
  std::sort(nodes.begin(), nodes.end());  // node numbers are in topological order

  std::vector<Operand> operands;
  for (const auto node : nodes)
    for (int port = 0; port < operands_of(graph, node); ++port) {
      const auto operand = operand_of(graph, node, port);
      const bool inner = std::find(nodes.begin(), nodes.end(), operand.value.node) != nodes.end();
      if (!inner && std::find(operands.begin(), operands.end(), operand) == operands.end()) operands.push_back(operand);
    }
  Match match{nodes, {}, nullptr};
  std::vector<bool> slopes;
  for (const auto& operand : operands) {
    match.inputs.push_back(operand.value);
    slopes.push_back(operand.slopes);
  }
  ChainProgram program{static_cast<int>(operands.size()), {}};
  std::string name = "elementwise";
  const auto place_of = [&](const Operand& operand) {
    const auto inner = std::find(nodes.begin(), nodes.end(), operand.value.node);
    if (inner != nodes.end()) return program.inputs + static_cast<int>(inner - nodes.begin());
    return static_cast<int>(std::find(operands.begin(), operands.end(), operand) - operands.begin());
  };
  for (const auto node : nodes) {
    ChainStep step{.left = place_of(operand_of(graph, node, 0))};
    if (const auto function = function_of(graph, node)) {
      step.function = *function;
    } else {
      step.kind = ChainStep::binary;
      step.operation = *operation_of(graph, node);
      step.right = place_of(operand_of(graph, node, 1));
    }
    program.steps.push_back(step);
    name += (node == nodes.front() ? "." : "+") + std::string(graph.type(node));
  }
  if (!program.fits()) return std::nullopt;
  match.kernel = std::make_unique<ElementwiseChain>(std::move(program), std::move(slopes),
                                                    extents_of(graph, operands, shape), std::move(name));
  return match;
}

// clang-format off
constexpr std::string_view kRoots[] = {
    "Abs", "Acos", "Acosh", "Add", "Asin", "Asinh", "Atan", "Atanh", "Ceiling", "Clamp", "Cos", "Cosh", "Divide",
    "Elu", "Erf", "Exp", "Floor", "FloorMod", "Gelu", "HSigmoid", "HSwish", "HardSigmoid", "Log", "Maximum",
    "Minimum", "Mish", "Mod", "Multiply", "Negative", "PRelu", "Power", "Relu", "Round", "Selu", "Sigmoid", "Sign",
    "Sin", "Sinh", "SoftPlus", "SoftSign", "Sqrt", "SquaredDifference", "Subtract", "Swish", "Tan", "Tanh"};
// clang-format on

}  // namespace

extern constinit const Pattern pattern{
    .name = "elementwise", .roots = kRoots, .match = match, .priority = Priority::elements};

}  // namespace ovir::fast::patterns::elementwise
