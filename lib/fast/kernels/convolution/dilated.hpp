// 3×3 convolution of stride 1 and dilation d on Layout::blocked, padded by d: every d-th pixel of every d-th row makes
// a plane, d × d in all, whose convolutions have no dilation. They are computed by Winograd, all together.
#pragma once
#include "base/int.hpp"
#include "fast/kernels/convolution/shape.hpp"
#include "fast/kernels/weights.hpp"

namespace ovir::fast {

/// Whether it is such a convolution, of planes that are large enough for Winograd.
bool dilated_pays(const ConvolutionShape& shape);

i64 dilated_filters_size(const ConvolutionShape& shape);
/// Packs filters [outputs][channels][3][3]. `weights.room` is of sixteen filters for each thread.
void dilated_pack(const ConvolutionShape& shape, const Weights& weights, float* to, ThreadPool& pool);
i64 dilated_scratch_size(const ConvolutionShape& shape, int threads);
/// in: [batch][blocks of channels][height][width][16], out alike. Without a residual.
void dilated_convolution(const ConvolutionShape& shape, const float* filters, const float* in, float* out,
                         const Epilogue& epilogue, float* scratch, ThreadPool& pool);

/// Whether filters that are needed once had better be packed panel by panel, each right before it is used.
bool dilated_packs_by_panels(const ConvolutionShape& shape);
i64 dilated_once_scratch_size(const ConvolutionShape& shape, int threads);
/// `weights.room` is not used.
void dilated_convolution_once(const ConvolutionShape& shape, const Weights& weights, const float* in, float* out,
                              const Epilogue& epilogue, float* scratch, ThreadPool& pool);

}  // namespace ovir::fast
