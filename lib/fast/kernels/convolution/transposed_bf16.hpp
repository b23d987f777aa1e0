// Transposed convolution in bf16 of one group whose taps are as many as the places that a stride passes, so that each
// output pixel comes from one pixel by one tap: for each tap a pointwise convolution, whose pixels are stored apart.
#pragma once
#include "fast/kernels/convolution/bf16.hpp"

namespace ovir::fast {

// Of shapes that have windows apart.

/// Words of the packed filters.
i64 bf16_transposed_filters_size(const ConvolutionShape& shape);
/// Filters [channels][outputs][taps].
void bf16_transposed_pack(const ConvolutionShape& shape, const float* filters, Word* to, ThreadPool& pool);
/// `in` is blocked bf16; e.residual does not count.
void bf16_transposed_convolution(const ConvolutionShape& shape, const Word* filters, const Word* in,
                                 const Bf16Blocked& out, const Bf16Blocked& residual, const Epilogue& e,
                                 ThreadPool& pool);

}  // namespace ovir::fast
