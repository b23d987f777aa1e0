// How many multiply-accumulates a layer takes; the formulas stand beside the operations (Version::macs).
#pragma once
#include <optional>
#include <span>

#include "model/model.hpp"

namespace ovir::tools {

/// The multiply-accumulates of one run of a layer with inputs and outputs of these shapes: those of products of
/// matrices and filters. Element-wise layers, poolings and reductions count none, as is usual. Nothing where a shape
/// that decides is open, or the number does not fit 64 bits.
std::optional<i64> macs_of(const Node& node, std::span<const Fact> inputs, std::span<const Fact> outputs);

}  // namespace ovir::tools
