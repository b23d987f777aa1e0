// Convolution of one group whose few outputs would leave most of a vector empty, as at the end of nets that give
// images: neighboring pixels of a row share the vector. Their windows together are one of a wider kernel with a wider
// stride, whose filters are those of the single pixels, one beside the other, and zeros.
#pragma once
#include "fast/kernels/convolution/shape.hpp"

namespace ovir::fast {

/// Whether enough pixels fit into a vector. Not for dilated rows.
bool few_outputs_pays(const ConvolutionShape& shape);
/// Whether it reads plain planes as `planar` does, since there are few channels, too; else it reads Layout::blocked.
bool few_outputs_reads_planes(const ConvolutionShape& shape);
i64 few_outputs_filters_size(const ConvolutionShape& shape);
/// Packs filters [outputs][channels][taps].
void few_outputs_pack(const ConvolutionShape& shape, const float* filters, float* to, ThreadPool& pool);
i64 few_outputs_scratch_size(const ConvolutionShape& shape, int threads);
/// out: with `planes` [batch][outputs][height][width], else [batch][1][height][width][16]. Without a residual.
void few_outputs_convolution(const ConvolutionShape& shape, const float* filters, const float* in, float* out,
                             bool planes, const Epilogue& epilogue, float* scratch, ThreadPool& pool);

}  // namespace ovir::fast
