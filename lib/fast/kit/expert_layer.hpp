// The experts of a layer as exporters spell them out: a Tile gives each expert all tokens, MatMuls by several matrices
// compute them all, and a Multiply by weights, most of which are 0, and a ReduceSum add them up.
#pragma once
#include <optional>
#include <vector>

#include "fast/kernels/elementwise/chain.hpp"
#include "plan/pattern.hpp"

namespace ovir::fast {

/// A MatMul by a matrix of each expert, perhaps with an Add of a row of each.
struct ExpertProduct {
  int matmul = -1;
  ValueRef bias{};  ///< [experts, 1, columns]; node < 0: none
  i64 depth = 0, columns = 0;
};

/// What the hidden values are computed from: columns first, first + step, … of a product.
struct ExpertPart {
  int product;
  i64 first, step;
};

/// result[token] = the sum over experts of weight · (hidden · last), hidden = program(tokens · first[0], …).
struct ExpertLayer {
  std::vector<int> nodes;  ///< in topological order
  ValueRef tokens;         ///< rows of `depth` numbers
  ValueRef weights;        ///< [experts, tokens]
  i64 experts = 0;
  i64 width = 0;  ///< of the hidden values
  std::vector<ExpertProduct> first;
  ExpertProduct last;
  std::vector<ExpertPart> parts;  ///< the program's inputs
  std::vector<float> numbers;     ///< its inputs behind these
  ChainProgram program;
};

/// That which ends with this ReduceSum.
std::optional<ExpertLayer> expert_layer(const Graphlet& graph, int sum);

}  // namespace ovir::fast
