// Convolution of three spatial axes whose planes are 3×3 of stride 1, by Winograd's F(2×2) or F(4×4) of the last two
// axes: slices are transformed once, and the planes of the kernel are added up before the way back.
#pragma once
#include "base/int.hpp"
#include "fast/kernels/convolution/volume.hpp"

namespace ovir::fast {

/// The tile size that pays: 4, 2, or 0 where direct_volume() is faster.
int volume_winograd_tile(const VolumeShape& shape);

i64 volume_winograd_filters_size(const VolumeShape& shape, int m);
/// Packs filters [outputs][channels][kernel_planes][3][3]. `weights.room` is of sixteen filters for each thread.
void volume_winograd_pack(const VolumeShape& shape, int m, const Weights& weights, float* to, ThreadPool& pool);
i64 volume_winograd_scratch_size(const VolumeShape& shape, int m, int threads);
void volume_winograd(const VolumeShape& shape, int m, const float* filters, const float* in, float* out,
                     const Epilogue& epilogue, float* scratch, ThreadPool& pool);

/// Whether filters that are needed once had better be packed panel by panel, each right before it is used.
bool volume_winograd_packs_by_panels(const VolumeShape& shape, int m);
i64 volume_winograd_once_scratch_size(const VolumeShape& shape, int m, int threads);
/// `weights.room` is not used.
void volume_winograd_once(const VolumeShape& shape, int m, const Weights& weights, const float* in, float* out,
                          const Epilogue& epilogue, float* scratch, ThreadPool& pool);

}  // namespace ovir::fast
