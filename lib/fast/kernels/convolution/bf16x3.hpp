// Convolution in f32 on Layout::blocked, each number as the sum of three bf16: as exact as products of f32, and faster
// where tiles multiply bf16.
#pragma once
#include "fast/kernels/convolution/shape.hpp"
#include "fast/kernels/weights.hpp"

namespace ovir::fast {

/// Whether that is the fastest way for this convolution, on this machine.
bool bf16x3_convolution_pays(const ConvolutionShape& shape);
/// Floats of the packed filters.
i64 bf16x3_filters_size(const ConvolutionShape& shape);
/// Packs filters [outputs][channels][taps].
void bf16x3_pack(const ConvolutionShape& shape, const Weights& filters, float* to, ThreadPool& pool);
i64 bf16x3_scratch_size(const ConvolutionShape& shape, int threads);
/// in: [batch][blocks of channels][height][width][16], out alike.
void bf16x3_convolution(const ConvolutionShape& shape, const float* filters, const float* in, float* out,
                        const Epilogue& epilogue, float* scratch, ThreadPool& pool);

/// Whether filters that are needed once had better be packed panel by panel, each right before it is used.
bool bf16x3_packs_by_panels(const ConvolutionShape& shape);
i64 bf16x3_once_scratch_size(const ConvolutionShape& shape, int threads);
/// Filters [outputs][channels][taps]; filters.room is not used.
void bf16x3_convolution_once(const ConvolutionShape& shape, const Weights& filters, const float* in, float* out,
                             const Epilogue& epilogue, float* scratch, ThreadPool& pool);

}  // namespace ovir::fast
