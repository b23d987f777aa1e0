// Convolution of one group on Layout::blocked whose taps lie apart (dilations): each tap by itself adds to the pixels
// that it has in the plane, so that nothing is padded. With dilations of 12 to 36 on planes of 28 pixels a side most
// taps fall beside it.
#pragma once
#include "fast/kernels/convolution/shape.hpp"
#include "fast/kernels/weights.hpp"

namespace ovir::fast {

/// Whether enough taps fall beside the plane, or a tap's sum is long enough, that each by itself pays.
bool clipped_pays(const ConvolutionShape& shape);
i64 clipped_filters_size(const ConvolutionShape& shape);
/// Packs filters [outputs][channels][taps]. `weights.room` is of up to sixteen filters for each thread.
void clipped_pack(const ConvolutionShape& shape, const Weights& weights, float* to, ThreadPool& pool);
/// in: [batch][blocks of channels][height][width][16], out alike.
void clipped_convolution(const ConvolutionShape& shape, const float* filters, const float* in, float* out,
                         const Epilogue& epilogue, ThreadPool& pool);

/// Whether filters that are needed once had better be packed panel by panel, each right before it is used.
bool clipped_packs_by_panels(const ConvolutionShape& shape);
i64 clipped_once_scratch_size(const ConvolutionShape& shape, int threads);
/// `weights.room` is not used.
void clipped_convolution_once(const ConvolutionShape& shape, const Weights& weights, const float* in, float* out,
                              const Epilogue& epilogue, float* scratch, ThreadPool& pool);

}  // namespace ovir::fast
