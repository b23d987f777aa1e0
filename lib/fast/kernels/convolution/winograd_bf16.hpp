// 3×3 convolution of stride 1 in bf16 by Winograd's F(2×2, 3×3), of volumes for each plane of the filters, which are
// summed before the output is transformed: transformed filters and input are rounded to bf16, sums and what follows are
// f32. It rounds twice as often as the direct sum does (lib/fast/README.md).
#pragma once
#include "fast/kernels/convolution/bf16.hpp"

namespace ovir::fast {

/// Whether it is faster than the direct sum.
bool bf16_winograd_pays(const ConvolutionShape& shape);

/// Words of the packed filters.
i64 bf16_winograd_filters_size(const ConvolutionShape& shape);
/// Filters [outputs][channels][planes][9].
void bf16_winograd_pack(const ConvolutionShape& shape, const float* filters, Word* to, ThreadPool& pool);
/// Words of scratch memory.
i64 bf16_winograd_scratch_size(const ConvolutionShape& shape, int threads);
/// `in` is blocked; e.residual does not count.
void bf16_winograd_convolution(const ConvolutionShape& shape, const Word* filters, const Word* in,
                               const Bf16Blocked& out, const Bf16Blocked& residual, const Epilogue& e, Word* scratch,
                               ThreadPool& pool);

}  // namespace ovir::fast
