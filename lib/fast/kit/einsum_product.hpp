// Einsum-7 of f32 operands as products of matrices.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/pattern.hpp"

namespace ovir::fast {

/// Labels, one an axis: those of both operands and the output count matrices, those that the output has from one
/// operand are rows (of a) or columns (of b), those that it lacks are summed.
struct EinsumProduct {
  std::string a, b, out;
  std::string matrices{}, rows{}, columns{}, sums{};
};

/// Most axes of an operand.
constexpr i64 kMaxEinsumDims = 8;

/// Nothing where a label repeats in an operand, or one of a single operand is summed.
std::optional<EinsumProduct> einsum_product(std::string a, std::string b, std::string out);
/// Of an Einsum of two operands; nothing of other nodes.
std::optional<EinsumProduct> einsum_product(const Graphlet& graph, int node);

/// Labels, one an axis, of the operands of an Einsum and of its output.
struct EinsumLabels {
  std::vector<std::string> operands;
  std::string out;
};
/// Nothing of other nodes, of operands that are not f32, and of ellipses that cover different numbers of axes.
std::optional<EinsumLabels> einsum_labels(const Graphlet& graph, int node);
/// Where the labels of `to` lie in `from`.
std::vector<i64> order_of(std::string_view from, std::string_view to);
/// Whether any two of the operands can be multiplied first, then any two of those left: no label repeats in an operand,
/// and none is that of a single operand only.
bool multiplies_in_pairs(const EinsumLabels& labels);

}  // namespace ovir::fast
