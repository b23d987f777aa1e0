// Element types that NumPy lacks: written widened, read back from the widened type.
#pragma once
#include "tensor/tensor.hpp"

namespace ovir::io {

/// The type that elements of `type` are written in: bf16, f8*, f4, nf4 -> f32; i4 -> i8; u1...u6 -> u8; else itself.
ElementType storable_type(ElementType type);
/// The same values in storable_type(); booleans are 0 and 1.
Tensor storable(const Tensor& tensor);
/// The inverse: `widened` as `type`. E0704 where it is not of storable_type(type), E0705 where a value is none of the
/// type's.
Tensor narrow(const Tensor& widened, ElementType type);
/// A boolean tensor from outside whose bytes are 0 and 1 whatever they were; any other tensor as it is.
Tensor with_clean_booleans(Tensor tensor);

}  // namespace ovir::io
