// Tensors between Layout::blocked and row-major, element by element: for those who look at values between kernels.
#pragma once
#include "tensor/dim.hpp"
#include "tensor/tensor.hpp"

namespace ovir {

/// `blocked` holds, as one dim, the elements of a tensor of `shape` (at least two dims) with its padding.
Tensor blocked_to_plain(const Tensor& blocked, const Shape& shape);
Tensor plain_to_blocked(const Tensor& plain);

/// Whether blocked tensors of both shapes are the same bytes: as many channels, and as many places behind them.
bool same_blocks(const PartialShape& a, const PartialShape& b);

}  // namespace ovir
