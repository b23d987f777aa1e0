// Convolution of three spatial axes by kernels of 3×1×1 of stride 1, by Winograd's F(4, 3) along the first axis.
#pragma once
#include "base/int.hpp"
#include "fast/kernels/convolution/volume.hpp"

namespace ovir::fast {

/// Whether it is such a convolution, and slices are enough to save multiplications.
bool lines_pay(const VolumeShape& shape);

i64 lines_filters_size(const VolumeShape& shape);
/// Packs filters [outputs][channels][3]. `weights.room` is of sixteen filters for each thread.
void lines_pack(const VolumeShape& shape, const Weights& weights, float* to, ThreadPool& pool);
i64 lines_scratch_size(const VolumeShape& shape, int threads);
void lines_convolution(const VolumeShape& shape, const float* filters, const float* in, float* out,
                       const Epilogue& epilogue, float* scratch, ThreadPool& pool);

/// Whether filters that are needed once had better be packed panel by panel, each right before it is used.
bool lines_pack_by_panels(const VolumeShape& shape);
i64 lines_once_scratch_size(const VolumeShape& shape, int threads);
/// `weights.room` is not used.
void lines_convolution_once(const VolumeShape& shape, const Weights& weights, const float* in, float* out,
                            const Epilogue& epilogue, float* scratch, ThreadPool& pool);

}  // namespace ovir::fast
