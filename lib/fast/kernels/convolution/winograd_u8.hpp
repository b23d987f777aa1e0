// 3×3 convolution of stride 1 of u8 by i8 by Winograd's F(4×4, 3×3) in integers of 16 bits, summed modulo 2^32: sums
// are 576 times those of the direct convolution, and divided by 576 they are the same to the bit.
#pragma once
#include <span>

#include "fast/kernels/convolution/u8.hpp"
#include "fast/kernels/integer_sums.hpp"

namespace ovir::fast {

/// Whether it is faster than the direct sum.
bool u8_winograd_pays(const ConvolutionShape& shape);
/// Whether it is exact: of the weights of every output.
bool u8_winograd_is_exact(std::span<const IntegerSums> sums);

/// Words of the packed weights.
i64 u8_winograd_weights_size(const ConvolutionShape& shape);
void u8_winograd_pack(const ConvolutionShape& shape, const std::int8_t* weights, Word* to, ThreadPool& pool);
/// Words of scratch memory.
i64 u8_winograd_scratch_size(const ConvolutionShape& shape, int threads);
/// As u8_convolution().
void u8_winograd_convolution(const ConvolutionShape& shape, const Word* weights, const Word* in, std::uint8_t pad,
                             const U8Blocked& out, const U8Blocked& residual, const U8Epilogue& e, Word* scratch,
                             ThreadPool& pool);

}  // namespace ovir::fast
