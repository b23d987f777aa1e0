// What the conversions of element types share.
#pragma once
#include "op/op.hpp"

namespace ovir::ops {

/// Known or bounded values of input `port` keep their bounds, converted to output `out`'s type.
void bounds_of_conversion(InferContext&);

/// Input `port` as `to` becomes output `port`; where that is kept in another type it is rounded to `to` all the same.
void put_converted(EvalContext& c, int port, ElementType to);

inline constexpr TypeSet kConvertible = kAnyType & ~set_of(ElementType::string);

}  // namespace ovir::ops
