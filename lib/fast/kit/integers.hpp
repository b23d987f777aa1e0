// Values of u8 that products and convolutions of integers read, as ONNX's DynamicQuantizeLinear gives them.
#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "plan/pattern.hpp"

namespace ovir::fast {

/// An i32 value that is u8, less a zero point of one number.
struct Bytes {
  std::vector<int> nodes;  ///< in topological order: others may read the value, too
  ValueRef x, zero{-1, 0};
};
std::optional<Bytes> bytes_of(const Graphlet& graph, ValueRef v);

/// The Multiply of f32 by one number or, of the last axis, by one a column, that alone reads the value; what it
/// multiplies by. `columns`: 0: only one number.
std::optional<std::pair<int, ValueRef>> step_after(const Graphlet& graph, int node, i64 columns);

}  // namespace ovir::fast
