// Transposed convolution of one group on small planes, on Layout::blocked: a product of all pixels by all taps, whose
// results are then added up where they fall. Direct sums multiply by the zeros around the plane instead, of a plane of
// one pixel by nothing else.
#pragma once
#include "fast/kernels/convolution/shape.hpp"

namespace ovir::fast {

bool transposed_product_pays(const ConvolutionShape& shape);
i64 transposed_product_filters_size(const ConvolutionShape& shape);
/// Packs filters [channels][outputs][taps].
void transposed_product_pack(const ConvolutionShape& shape, const float* filters, float* to, ThreadPool& pool);
i64 transposed_product_scratch_size(const ConvolutionShape& shape);
/// `shape` as of transposed_convolution(); in: [batch][blocks of channels][height][width][16], out alike.
void transposed_product(const ConvolutionShape& shape, const float* filters, const float* in, float* out,
                        const Epilogue& epilogue, float* scratch, ThreadPool& pool);

}  // namespace ovir::fast
