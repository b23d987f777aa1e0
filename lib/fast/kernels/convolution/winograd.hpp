// Convolution by Winograd, on Layout::blocked: of 3×3 taps by F(2×2, 3×3) or F(4×4, 3×3), of a line of 3 by F(4, 3),
// also where taps lie apart, and of stride 2; of 4×4 taps by F(3×3, 4×4), of 5×5 by F(2×2, 5×5); of three spatial axes,
// of the last two: slices are transformed once, and the planes of the kernel are added up before the way back. F(2×2)
// rounds no worse than the direct sum, tiles of six points about 5 times as much (lib/fast/README.md).
#pragma once
#include <optional>

#include "base/int.hpp"
#include "fast/kernels/convolution/volume.hpp"

namespace ovir::fast {

/// Whether a tile can compute it: of its taps, of one group or groups of whole blocks, or, by lines, 3×1 or 1×3, of one
/// group; of its stride, and where that is 2, not dilated.
bool winograd_fits(const ConvolutionShape& shape, WinogradTile tile);
/// The one that pays for so many images, or volumes, at least; nothing where direct sums are faster. `once`: filters
/// are packed in every run.
std::optional<WinogradTile> winograd_tile(const VolumeShape& shape, i64 images = 1, bool once = false);

i64 winograd_filters_size(const VolumeShape& shape, WinogradTile tile);
/// Packs filters [outputs][channels][kernel_planes][taps]. `weights.room` is of sixteen filters for each thread.
void winograd_pack(const VolumeShape& shape, WinogradTile tile, const Weights& weights, float* to, ThreadPool& pool);
i64 winograd_scratch_size(const VolumeShape& shape, WinogradTile tile, int threads);
void winograd_convolution(const VolumeShape& shape, WinogradTile tile, const float* filters, const float* in,
                          float* out, const Epilogue& epilogue, float* scratch, ThreadPool& pool);

/// Output pixels, of all images, from which on filters in bf16 and u8 that are packed in every run are worth
/// transforming.
inline constexpr i64 kNarrowPixelsWorthTransforming = 1024;

/// Whether filters that are needed once had better be packed panel by panel, each right before it is used.
bool winograd_packs_by_panels(const VolumeShape& shape, WinogradTile tile);
i64 winograd_once_scratch_size(const VolumeShape& shape, WinogradTile tile, int threads);
/// `weights.room` is not used.
void winograd_convolution_once(const VolumeShape& shape, WinogradTile tile, const Weights& weights, const float* in,
                               float* out, const Epilogue& epilogue, float* scratch, ThreadPool& pool);

}  // namespace ovir::fast
