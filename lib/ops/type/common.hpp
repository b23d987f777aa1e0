// What the conversions of element types share.
#pragma once
#include "op/op.hpp"

namespace ovir::ops {

/// Known or bounded values of input `port` keep their bounds, converted to output `out`'s type.
void bounds_of_conversion(InferContext&);

inline constexpr TypeSet kConvertible = kAnyType & ~set_of(ElementType::string);

}  // namespace ovir::ops
