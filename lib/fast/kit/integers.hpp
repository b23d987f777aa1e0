// Values of u8 that products and convolutions of integers read, as ONNX's DynamicQuantizeLinear gives them.
#pragma once
#include <optional>

#include "plan/pattern.hpp"

namespace ovir::fast {

/// A product of i32 that becomes f32, whose first operand is u8, less a zero point of one number, and the step by which
/// the f32 are multiplied.
struct IntegerProduct {
  Match match;               ///< what makes i32 of u8 is shared; operand 0 is u8, others are zero point and step
  int zero = -1, step = -1;  ///< their places; -1: there is none
};
/// `columns`: of the last axis, by which there may be as many steps; 0: one.
std::optional<IntegerProduct> integer_product(const Graphlet& graph, int root, i64 columns);

}  // namespace ovir::fast
