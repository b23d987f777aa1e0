// Elementwise operations in f32 that are computed in one pass: one, and those before it that nobody else reads.
#pragma once
#include <string>
#include <vector>

#include "fast/kernels/elementwise/chain.hpp"
#include "plan/pattern.hpp"

namespace ovir::fast {

/// An operand of a chain; `slopes`: of PRelu, where one axis alone may be the channels; `type`: what a Convert at the
/// chain's beginning makes f32 of.
struct ChainOperand {
  ValueRef value;
  bool slopes = false;
  ElementType type = ElementType::f32;
  bool operator==(const ChainOperand& o) const {
    return value.node == o.value.node && value.port == o.value.port && slopes == o.slopes;
  }
};

struct OperationChain {
  std::vector<int> nodes;              ///< the last one may be a Convert of what the program computes
  std::vector<ChainOperand> operands;  ///< the program's inputs
  ChainProgram program;
  std::string name;  ///< the types, with + between them
  /// By operand, where blocked values can be computed as they are: all are f32, and channels fill their blocks or the
  /// zeros beyond them stay zeros. Empty: they cannot.
  std::vector<Extent> extents;

  bool has_slopes() const;
};

/// The operation of two f32 operands that a node computes, one of which NumPy's rule may repeat.
std::optional<Binary> binary_of(const Graphlet& graph, int node);
/// Whether a chain may have the node; -1: none.
bool is_elementwise(const Graphlet& graph, int node);
/// The Convert that alone reads what a node computes in f32, and makes numbers of kConverted of it; -1: there is none.
int convert_after(const Graphlet& graph, int node);
/// The chain that ends with a node; nothing where it is another operation. `converts`: operands that have the output's
/// shape may be converted to f32 first, and the output by the root.
std::optional<OperationChain> operation_chain(const Graphlet& graph, int root, bool converts = false);

}  // namespace ovir::fast
