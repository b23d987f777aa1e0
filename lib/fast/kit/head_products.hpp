// The two products of an attention that models spell out, as MatMuls or Einsums: which axes of their operands are
// batch, heads, rows and columns.
#pragma once
#include <array>
#include <optional>
#include <vector>

#include "fast/kit/einsum_product.hpp"
#include "fast/kit/heads.hpp"

namespace ovir::fast {

/// A MatMul or Einsum of heads, perhaps with a Transpose of scores, or a MatMul of joined heads between the Reshapes
/// that join and part them.
struct HeadProduct {
  int product = -1;
  EinsumProduct labels{};  ///< those of a MatMul, too; where heads are joined, as if they were apart
  std::vector<int> nodes;  ///< the product, and Transpose or Reshapes
  bool joined = false;
  int port = -1;  ///< of the probabilities
};

/// The product whose results are a value that only these nodes read.
std::optional<HeadProduct> product_before(const Graphlet& graph, ValueRef v, const std::vector<int>& users);
/// The product of a node's value, the probabilities, which nobody else reads, with something else.
std::optional<HeadProduct> product_after(const Graphlet& graph, int node);

/// Queries, keys and values as products read them, and the output as they write it.
struct ProductOperands {
  std::array<HeadOperand, 3> operands;
  HeadAxes out;
  ScoreAxes scores;
  bool grouped = false;  ///< several heads of queries share one of keys and values
};
/// Nothing where their axes do not lie so, as where heads or batches are broadcast: that is for the single products.
std::optional<ProductOperands> operands_of(const Graphlet& graph, const HeadProduct& scores, const HeadProduct& values);

}  // namespace ovir::fast
