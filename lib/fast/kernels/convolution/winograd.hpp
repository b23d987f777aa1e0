// Convolution of stride 1 by Winograd, on Layout::blocked: of 3×3 taps by F(2×2, 3×3) or F(4×4, 3×3), of a line of 3 by
// F(4, 3), also where taps lie apart; of three spatial axes, of the last two: slices are transformed once, and the
// planes of the kernel are added up before the way back. F(2×2) rounds no worse than the direct sum, F(4×4) about 5
// times as much (lib/fast/README.md).
#pragma once
#include "base/int.hpp"
#include "fast/kernels/convolution/volume.hpp"

namespace ovir::fast {

/// Whether m × m output tiles can compute it: 3×3, stride 1, one group or, of images, groups of whole blocks.
bool winograd_fits(const ConvolutionShape& shape);
/// Whether lines can: 3×1 or 1×3, stride 1, one group.
bool winograd_line_fits(const ConvolutionShape& shape);
/// The tile size that pays: 4 for large planes, 2, kWinogradLine, or 0 where direct is faster.
int winograd_tile(const VolumeShape& shape);

i64 winograd_filters_size(const VolumeShape& shape, int m);
/// Packs filters [outputs][channels][kernel_planes][taps]. `weights.room` is of sixteen filters for each thread.
void winograd_pack(const VolumeShape& shape, int m, const Weights& weights, float* to, ThreadPool& pool);
i64 winograd_scratch_size(const VolumeShape& shape, int m, int threads);
void winograd_convolution(const VolumeShape& shape, int m, const float* filters, const float* in, float* out,
                          const Epilogue& epilogue, float* scratch, ThreadPool& pool);

/// Output pixels, of all images, from which on filters that are packed in every run are worth transforming.
inline constexpr i64 kPixelsWorthTransforming = 150;
/// The same in bf16 and u8, whose direct sums take less.
inline constexpr i64 kNarrowPixelsWorthTransforming = 1024;

/// Whether filters that are needed once had better be packed panel by panel, each right before it is used.
bool winograd_packs_by_panels(const VolumeShape& shape, int m);
i64 winograd_once_scratch_size(const VolumeShape& shape, int m, int threads);
/// `weights.room` is not used.
void winograd_convolution_once(const VolumeShape& shape, int m, const Weights& weights, const float* in, float* out,
                               const Epilogue& epilogue, float* scratch, ThreadPool& pool);

}  // namespace ovir::fast
