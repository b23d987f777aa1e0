// Tensors between Layout::blocked and row-major, element by element: for those who look at values between kernels.
#pragma once
#include "tensor/tensor.hpp"

namespace ovir {

/// `blocked` holds, as one dim, the elements of a tensor of `shape` (at least two dims) with its padding.
Tensor blocked_to_plain(const Tensor& blocked, const Shape& shape);
Tensor plain_to_blocked(const Tensor& plain);

}  // namespace ovir
