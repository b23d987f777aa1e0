#include "fast/kit/operation_chain.hpp"

#include <algorithm>

#include "fast/kernels/buffer.hpp"
#include "fast/kernels/elementwise/convert.hpp"
#include "fast/kit/broadcasting.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/spelled_out.hpp"
#include "op/kit/elementwise_attrs.hpp"

namespace ovir::fast {
namespace {

/// Whether lanes beyond the last channel, which hold 0, hold it again: scalars count if they are constants.
bool keeps_zeros(const Graphlet& graph, const OperationChain& chain, const std::vector<Extent>& extents) {
  std::vector<float> values(extents.size(), 0.0f);
  std::vector<const void*> data;
  static constexpr i64 kOne[] = {1};
  const std::vector<std::span<const i64>> shapes(extents.size(), kOne);
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (extents[i] == Extent::one) {
      const auto value = number(graph, chain.operands[i].value);
      if (!value) return false;
      values[i] = *value;
    }
    data.push_back(&values[i]);
  }
  float result = 1;
  Chain(chain.program, shapes, kOne).run(data, &result);
  return result == 0;
}

std::vector<Extent> extents_of(const Graphlet& graph, const OperationChain& chain, const PartialShape& out) {
  const auto& operands = chain.operands;
  std::vector<Extent> result;
  if (!out.is_static() || out.rank() < 3 || out.rank() > 5) return {};
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
  if (out[1].length() % kBlock != 0 && !keeps_zeros(graph, chain, result)) return {};
  return result;
}

/// What a node reads: a function of constants, its first input alone.
int operands_of(const Graphlet& graph, int node) { return function_of(graph, node) ? 1 : 2; }
ChainOperand operand_of(const Graphlet& graph, int node, int port) {
  return {graph.input(node, port), port == 1 && graph.type(node) == "PRelu"};
}

/// A producer joins the chain of its user if nobody else reads it and it has the output's shape: a smaller one would be
/// computed again and again.
bool joins(const Graphlet& graph, const PartialShape& shape, ValueRef v, int user) {
  return v.node >= 0 && v.port == 0 && graph.only_user(v) == user && is_elementwise(graph, v.node) &&
         shape.is_static() && graph.fact(v).shape == shape;
}

/// The Convert to f32 that gives an operand of this shape, and nothing else needs; -1: there is none.
int convert_before(const Graphlet& graph, const PartialShape& shape, const ChainOperand& operand,
                   const std::vector<int>& nodes) {
  const auto v = operand.value;
  const auto user = graph.only_user(v);
  if (graph.type(v.node) != "Convert" || !is_f32(graph, v) || std::ranges::find(nodes, user) == nodes.end() ||
      !shape.is_static())
    return -1;
  const auto x = graph.input(v.node, 0);
  const auto& fact = graph.fact(x);
  const auto type = graph.stored(x);
  const bool suits = type == fact.type && type != ElementType::f32 && contains(kConverted, type) &&
                     fact.shape == shape && !graph.constant(x);
  return suits ? v.node : -1;
}

constexpr std::size_t kMaxNodes = 12;

}  // namespace

bool OperationChain::has_slopes() const {
  return std::any_of(operands.begin(), operands.end(), [](const ChainOperand& o) { return o.slopes; });
}

std::optional<Binary> binary_of(const Graphlet& graph, int node) {
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
  return node >= 0 && (function_of(graph, node) || binary_of(graph, node));
}

int convert_after(const Graphlet& graph, int node) {
  const auto user = graph.only_user({node, 0});
  if (graph.type(user) != "Convert" || !is_f32(graph, {node, 0})) return -1;
  const auto type = graph.stored({user, 0});
  return type == graph.fact({user, 0}).type && type != ElementType::f32 && contains(kConverted, type) ? user : -1;
}

std::optional<OperationChain> operation_chain(const Graphlet& graph, int root, bool converts) {
  if (converts && graph.type(root) == "Convert") {
    const auto v = graph.input(root, 0);
    if (v.port != 0 || convert_after(graph, v.node) != root) return std::nullopt;
    auto chain = operation_chain(graph, v.node, true);
    if (!chain) return std::nullopt;
    chain->nodes.push_back(root);
    chain->extents.clear();
    chain->name += "+Convert";
    return chain;
  }
  if (!is_elementwise(graph, root)) return std::nullopt;
  const auto& shape = graph.fact({root, 0}).shape;
  OperationChain chain;
  auto& nodes = chain.nodes = {root};
  for (std::size_t i = 0; i < nodes.size() && nodes.size() < kMaxNodes; ++i)
    for (int port = 0; port < operands_of(graph, nodes[i]); ++port)
      if (const auto v = graph.input(nodes[i], port); nodes.size() < kMaxNodes && joins(graph, shape, v, nodes[i]))
        nodes.push_back(v.node);
  std::sort(nodes.begin(), nodes.end());  // node numbers are in topological order

  auto& operands = chain.operands;
  for (const auto node : nodes)
    for (int port = 0; port < operands_of(graph, node); ++port) {
      const auto operand = operand_of(graph, node, port);
      const bool inner = std::find(nodes.begin(), nodes.end(), operand.value.node) != nodes.end();
      if (!inner && std::find(operands.begin(), operands.end(), operand) == operands.end()) operands.push_back(operand);
    }
  auto& program = chain.program;
  program.inputs = static_cast<int>(operands.size());
  const auto place_of = [&](const ChainOperand& operand) {
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
      step.operation = *binary_of(graph, node);
      step.right = place_of(operand_of(graph, node, 1));
    }
    program.steps.push_back(step);
    chain.name += (chain.name.empty() ? "" : "+") + std::string(graph.type(node));
  }
  if (!program.fits()) return std::nullopt;
  chain.extents = extents_of(graph, chain, shape);
  for (auto& operand : operands) {
    const int convert = converts ? convert_before(graph, shape, operand, nodes) : -1;
    if (convert < 0) continue;
    operand.value = graph.input(convert, 0);
    operand.type = graph.stored(operand.value);
    nodes.push_back(convert);
    chain.extents.clear();
    chain.name.insert(0, "Convert+");
  }
  std::sort(nodes.begin(), nodes.end());
  return chain;
}

}  // namespace ovir::fast
