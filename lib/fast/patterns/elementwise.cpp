// Chains of elementwise operations in f32, in one pass over memory.
#include <algorithm>
#include <array>

#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kernels/elementwise/chain.hpp"
#include "fast/kit/functions.hpp"
#include "op/kit/elementwise_attrs.hpp"

namespace ovir::fast::patterns::elementwise {
namespace {

/// How an operand lies beside an output of [N,C,spatial…]: as wide, one value, or one value a channel.
enum class Extent : std::uint8_t { full, one, channel };

class ElementwiseChain final : public Kernel {
 public:
  /// `extents`: by operand, where blocked values can be computed as they are; empty: they cannot.
  ElementwiseChain(ChainProgram program, std::vector<Extent> extents, std::string name)
      : program_(std::move(program)), extents_(std::move(extents)), name_(std::move(name)) {}

  std::string name() const override { return name_; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto& out = sizes.out[0];
    const auto is_blocked = [](const View& v) { return v.layout == Layout::blocked; };
    if (!is_blocked(out) && std::none_of(sizes.in.begin(), sizes.in.end(), is_blocked)) {
      std::vector<std::span<const i64>> shapes;
      for (const auto& v : sizes.in) shapes.push_back(v.dims);
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
  std::vector<Extent> extents_;
  std::string name_;
};

/// Empty where an operand lies otherwise, or channels do not fill their blocks.
std::vector<Extent> extents_of(const Graphlet& graph, const std::vector<ValueRef>& operands, const PartialShape& out) {
  std::vector<Extent> result;
  if (!out.is_static() || out.rank() < 3 || out.rank() > 5 || out[1].length() % kBlock != 0) return {};
  for (const auto& v : operands) {
    const auto& shape = graph.fact(v).shape;
    if (!shape.is_static()) return {};
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
                                       {"SquaredDifference", Binary::squared_difference}};
  const auto* entry = std::find_if(std::begin(kEntries), std::end(kEntries),
                                   [&](const Entry& e) { return e.type == graph.type(node); });
  if (entry == std::end(kEntries) || !is_f32(graph, graph.input(node, 0)) || !is_f32(graph, graph.input(node, 1)) ||
      !is_f32(graph, {node, 0}))
    return std::nullopt;
  const auto rule = entry->operation == Binary::divide ? graph.attrs<DivideAttrs>(node).rule()
                                                       : graph.attrs<BroadcastAttrs>(node).rule();
  return rule.kind == AutoBroadcast::pdpd ? std::nullopt : std::optional(entry->operation);
}

bool is_elementwise(const Graphlet& graph, int node) {
  return node >= 0 && (function_of(graph, node) || operation_of(graph, node));
}

bool same(ValueRef a, ValueRef b) { return a.node == b.node && a.port == b.port; }

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
    for (int port = 0; port < (operation_of(graph, nodes[i]) ? 2 : 1); ++port)
      if (const auto v = graph.input(nodes[i], port); nodes.size() < kMaxNodes && joins(graph, shape, v, nodes[i]))
        nodes.push_back(v.node);
  std::sort(nodes.begin(), nodes.end());  // node numbers are in topological order

  Match match{nodes, {}, nullptr};
  for (const auto node : nodes)
    for (int port = 0; port < (operation_of(graph, node) ? 2 : 1); ++port) {
      const auto v = graph.input(node, port);
      const bool inner = std::find(nodes.begin(), nodes.end(), v.node) != nodes.end();
      const auto known = std::any_of(match.inputs.begin(), match.inputs.end(), [&](ValueRef i) { return same(i, v); });
      if (!inner && !known) match.inputs.push_back(v);
    }
  ChainProgram program{static_cast<int>(match.inputs.size()), {}};
  std::string name = "elementwise";
  const auto operand = [&](ValueRef v) {
    const auto inner = std::find(nodes.begin(), nodes.end(), v.node);
    if (inner != nodes.end()) return program.inputs + static_cast<int>(inner - nodes.begin());
    const auto input = std::find_if(match.inputs.begin(), match.inputs.end(), [&](ValueRef i) { return same(i, v); });
    return static_cast<int>(input - match.inputs.begin());
  };
  for (const auto node : nodes) {
    ChainStep step{.left = operand(graph.input(node, 0))};
    if (const auto operation = operation_of(graph, node)) {
      step.kind = ChainStep::binary;
      step.operation = *operation;
      step.right = operand(graph.input(node, 1));
    } else {
      step.function = *function_of(graph, node);
    }
    program.steps.push_back(step);
    name += (node == nodes.front() ? "." : "+") + std::string(graph.type(node));
  }
  if (!program.fits()) return std::nullopt;
  match.kernel =
      std::make_unique<ElementwiseChain>(std::move(program), extents_of(graph, match.inputs, shape), std::move(name));
  return match;
}

// clang-format off
constexpr std::string_view kRoots[] = {
    "Abs", "Add", "Ceiling", "Clamp", "Divide", "Elu", "Erf", "Exp", "Floor", "Gelu", "HSigmoid", "HSwish",
    "HardSigmoid", "Log", "Maximum", "Minimum", "Mish", "Multiply", "Negative", "PRelu", "Relu", "Selu", "Sigmoid",
    "Sign", "SoftPlus", "SoftSign", "Sqrt", "SquaredDifference", "Subtract", "Swish", "Tanh"};
// clang-format on

}  // namespace

extern constinit const Pattern pattern{
    .name = "elementwise", .roots = kRoots, .match = match, .priority = Priority::elements};

}  // namespace ovir::fast::patterns::elementwise
