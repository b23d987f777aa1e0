// Einsum-7 of two f32 operands as products of matrices.
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
/// Of an Einsum; nothing of other nodes.
std::optional<EinsumProduct> einsum_product(const Graphlet& graph, int node);

}  // namespace ovir::fast
