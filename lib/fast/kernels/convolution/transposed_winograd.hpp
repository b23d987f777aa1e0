// Transposed convolution of 4×4 taps, stride 2 and one group by Winograd's F(3×3, 2×2), on Layout::blocked: each of its
// four phases has 2×2 taps, and what they read of a tile is transformed once for all of them.
#pragma once
#include "fast/kernels/convolution/shape.hpp"

namespace ovir::fast {

bool transposed_winograd_fits(const ConvolutionShape& shape);
/// Whether planes are so large that it takes less time than direct sums.
bool transposed_winograd_pays(const ConvolutionShape& shape);
i64 transposed_winograd_filters_size(const ConvolutionShape& shape);
/// Packs filters [channels][outputs][4][4].
void transposed_winograd_pack(const ConvolutionShape& shape, const float* filters, float* to, ThreadPool& pool);
i64 transposed_winograd_scratch_size(const ConvolutionShape& shape, int threads);
/// `shape` as of transposed_convolution(); in: [batch][blocks of channels][height][width][16], out alike.
void transposed_winograd(const ConvolutionShape& shape, const float* filters, const float* in, float* out,
                         const Epilogue& epilogue, float* scratch, ThreadPool& pool);

}  // namespace ovir::fast
