// Transposed convolution of one group with so few outputs that those of all phases of its strides have room in a block,
// on Layout::blocked: one convolution of stride 1 that gives them side by side, by a kernel which has the taps of all.
#pragma once
#include "fast/kernels/convolution/shape.hpp"

namespace ovir::fast {

bool transposed_few_pays(const ConvolutionShape& shape);
i64 transposed_few_filters_size(const ConvolutionShape& shape);
/// Packs filters [channels][outputs][taps], by the pads of `shape`. Allocates.
void transposed_few_pack(const ConvolutionShape& shape, const float* filters, float* to, ThreadPool& pool);
i64 transposed_few_scratch_size(const ConvolutionShape& shape, int threads);
/// `shape` as of transposed_convolution(); in: [batch][blocks of channels][height][width][16], out alike, or
/// [batch][outputs][out_height][out_width] where it is `planes`.
void transposed_few(const ConvolutionShape& shape, const float* filters, const float* in, float* out, bool planes,
                    const Epilogue& epilogue, float* scratch, ThreadPool& pool);

}  // namespace ovir::fast
