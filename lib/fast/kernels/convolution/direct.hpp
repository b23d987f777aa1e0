// Direct convolution on Layout::blocked: sums over channels and taps in registers, for any kernel, stride, dilation and
// number of groups. The transposed one (ConvolutionBackpropData) is the same loop over the phases of its stride.
#pragma once
#include "base/int.hpp"
#include "fast/kernels/convolution/phase.hpp"
#include "fast/kernels/weights.hpp"

namespace ovir::fast {

/// Floats of the packed filters.
i64 direct_filters_size(const ConvolutionShape& shape);
/// Packs filters [outputs][channels of a group][taps], of groups in order. Those of several groups are not read from a
/// file.
void direct_pack(const ConvolutionShape& shape, const Weights& filters, float* to, ThreadPool& pool);
/// Floats of scratch memory that direct_convolution() needs.
i64 direct_scratch_size(const ConvolutionShape& shape, int threads);
/// in: [batch][blocks of channels][height][width][16], out alike.
void direct_convolution(const ConvolutionShape& shape, const float* filters, const float* in, float* out,
                        const Epilogue& epilogue, float* scratch, ThreadPool& pool);

/// Transposed: `shape` is that of the operation (channels and height × width of its input, outputs and out_height ×
/// out_width of its output); strides, dilations and pads are those of the convolution that it transposes.
/// Filters are [channels][outputs of a group][taps].
void transposed_pack(const ConvolutionShape& shape, const float* filters, float* to, ThreadPool& pool);
i64 transposed_scratch_size(const ConvolutionShape& shape, int threads);
void transposed_convolution(const ConvolutionShape& shape, const float* filters, const float* in, float* out,
                            const Epilogue& epilogue, float* scratch, ThreadPool& pool);

}  // namespace ovir::fast
