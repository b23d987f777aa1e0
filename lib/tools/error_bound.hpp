// Error bounds: how far a kernel's result may lie from another sound one for the same inputs, from the arithmetic of
// the operation (ErrorBound in op/op_def.hpp). u is the unit roundoff: 2^-24 for f32, 2^-53 for f64.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "model/model.hpp"

namespace ovir::tools {

/// An input of a node, and how far each element may be from what the reference computed with; empty: not at all.
struct Operand {
  Tensor value;
  std::vector<double> off{};
};

/// Of one output, by element. Infinity: a decision that may fall to either side, as of two elements that are equal
/// within their rounding.
using Bound = std::vector<double>;

/// What a node's outputs are, computed in f64 where its kernel can, and how far they may be off.
struct Bounded {
  std::vector<Tensor> values;
  std::vector<Bound> bounds;
};

/// Nothing where a bound cannot be found: for layers with bodies, random numbers, and kernels that refuse the inputs.
std::optional<Bounded> error_bounds(const Node& node, std::span<const Operand> inputs);

/// The error of rounding to a floating-point type, relative to the value: 2^-11 for f16; 0 for other types.
double unit_roundoff(ElementType type);
/// The error of rounding `value` to the type, where it may be subnormal in it; 0 for infinities and NaN.
double rounding_error(ElementType type, double value);

}  // namespace ovir::tools
