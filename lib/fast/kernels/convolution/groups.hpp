// Direct convolution of groups on Layout::blocked: each output sums the channels of its own group and no others.
#pragma once
#include "base/int.hpp"
#include "fast/kernels/convolution/shape.hpp"
#include "fast/kernels/weights.hpp"

namespace ovir::fast {

/// Whether that is less than direct_convolution() multiplies, which takes whole blocks of channels.
bool groups_pay(const ConvolutionShape& shape);

/// Floats of the packed filters.
i64 groups_filters_size(const ConvolutionShape& shape);
/// Filters are [outputs][channels of a group][taps], of groups in order.
void groups_pack(const ConvolutionShape& shape, const float* filters, float* to, ThreadPool& pool);
/// Floats of scratch memory that groups_convolution() needs.
i64 groups_scratch_size(const ConvolutionShape& shape, int threads);
/// in: [batch][blocks of channels][height][width][16], out alike.
void groups_convolution(const ConvolutionShape& shape, const float* filters, const float* in, float* out,
                        const Epilogue& epilogue, float* scratch, ThreadPool& pool);

}  // namespace ovir::fast
