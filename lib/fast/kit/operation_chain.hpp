// Elementwise operations in f32 that are computed in one pass: one, and those before it that nobody else reads.
#pragma once
#include <string>
#include <vector>

#include "fast/kernels/elementwise/chain.hpp"
#include "plan/pattern.hpp"

namespace ovir::fast {

/// An operand of a chain; `slopes`: of PRelu, where one axis alone may be the channels.
struct ChainOperand {
  ValueRef value;
  bool slopes = false;
  bool operator==(const ChainOperand& o) const {
    return value.node == o.value.node && value.port == o.value.port && slopes == o.slopes;
  }
};

/// How an operand lies beside an output of [N,C,spatial…]: as wide, one value, or one value a channel.
enum class Extent : std::uint8_t { full, one, channel };

struct OperationChain {
  std::vector<int> nodes;
  std::vector<ChainOperand> operands;  ///< the program's inputs
  ChainProgram program;
  std::string name;  ///< the types, with + between them
  /// By operand, where blocked values can be computed as they are: channels fill their blocks. Empty: they cannot.
  std::vector<Extent> extents;

  bool has_slopes() const;
};

/// Whether a chain may have the node; -1: none.
bool is_elementwise(const Graphlet& graph, int node);
/// The chain that ends with a node; nothing where it is another operation.
std::optional<OperationChain> operation_chain(const Graphlet& graph, int root);

}  // namespace ovir::fast
