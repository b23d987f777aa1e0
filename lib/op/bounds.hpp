// Ready-made `bounds` hooks: how intervals of values pass through an operation.
#pragma once
#include "op/infer_context.hpp"

namespace ovir {

/// For operations that only move elements of the inputs that share output 0's TypeVar (Gather, Concat, Slice,
/// Reshape…): runs the reference kernel on the lower bounds, the upper bounds and the symbols. All other inputs must be
/// known.
void bounds_by_moving(InferContext&);

/// Element-wise with numpy broadcasting: `f` maps the intervals of the operands to that of the result.
void bounds_elementwise(InferContext&, Interval (*f)(Interval, Interval));
void bounds_elementwise(InferContext&, Interval (*f)(Interval));

}  // namespace ovir
