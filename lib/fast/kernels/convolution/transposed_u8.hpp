// Transposed convolution of u8 by i8 whose windows lie side by side: each of their places is a pointwise convolution.
#pragma once
#include <span>

#include "fast/kernels/convolution/u8.hpp"

namespace ovir::fast {

/// A place of the windows, in the order of rows: the filters of its pointwise convolution, and what follows its sums.
struct U8Phase {
  const Word* filters;
  const U8Epilogue* epilogue;
};

/// `shape`: of the pointwise convolution, whose pixels become windows of stride_y × stride_x, as many as `phases`.
void u8_transposed(const ConvolutionShape& shape, i64 stride_y, i64 stride_x, std::span<const U8Phase> phases,
                   const Word* in, const U8Blocked& out, ThreadPool& pool);

}  // namespace ovir::fast
