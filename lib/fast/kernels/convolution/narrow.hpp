// Convolution on words of two bf16 or four u8 channels (isa/narrow.hpp): what both have in common. Values are blocked:
// [batch][blocks][height][width][16 words]; lanes beyond the last channel are ignored, for their weights are 0. Or on
// f32 as the sum of three bf16: blocks of 16 f32, which become [blocks][part][height][width][16 words] as they are
// padded.
#pragma once
#include <array>
#include <functional>
#include <span>

#include "fast/isa/narrow.hpp"
#include "fast/kernels/convolution/narrow_geometry.hpp"

namespace ovir::fast {

/// Computes a few pixels by the columns of a panel: `place` is the first pixel in the plane.
using NarrowTileWork = std::function<void(const NarrowSum& sum, int pixels, i64 panel, i64 image, i64 place)>;

/// All tiles of a convolution, of filters that are packed panel by panel where not g.copies_bands(). `in`: blocked, as
/// f32 where there are three parts, or, of an image, its padded rows. `pad` is the word around the input. `rows`: of
/// groups a tile may be the rows of 16 columns (NarrowSum::rows).
void narrow_convolution(const NarrowGeometry& geometry, const WordPanels& filters, const Word* in, Word pad,
                        Word* scratch, ThreadPool& pool, const NarrowTileWork& tile, bool rows = false);

/// Packs all filters into panels by pack(geometry, panel, weights of the panel, its place).
template <class Weight, class Pack>
void pack_narrow(const NarrowGeometry& g, const Weight* weights, Word* to, ThreadPool& pool, const Pack& pack) {
  parallel_ranges(pool, g.panels(), static_cast<double>(g.panel_size()) / 8, [&](i64 begin, i64 end) {
    for (auto panel = begin; panel < end; ++panel)
      pack(g, panel, weights + panel * g.panel_weights(), to + panel * g.panel_size());
  });
}

/// Rows of a depthwise convolution: block `block` of image `image`, output rows from `y` on; taps are those that lie
/// within the kernel, offsets in words from `in`. `step` is between pixels, `row` between rows.
struct NarrowRows {
  const Word* in;
  std::span<const i64> taps;
  i64 step, row, image, block, y, rows;
};
using NarrowRowsWork = std::function<void(const NarrowRows& rows)>;

/// What surrounds the plane of a depthwise convolution: a pixel of each block, or one for all of them (a step of 0).
struct NarrowPads {
  const Word* first;
  i64 step = 0;
  const Word* of(i64 block) const { return first + block * step; }
};
alignas(64) inline constexpr Word kZeroPixel[kBlock] = {};

i64 narrow_depthwise_scratch_size(const ConvolutionShape& shape, int threads);
/// `nanoseconds_after`: of what follows a pixel's sums, roughly.
void narrow_depthwise(const ConvolutionShape& shape, i64 lanes, const Word* in, const NarrowPads& pads, Word* scratch,
                      ThreadPool& pool, const NarrowRowsWork& work, double nanoseconds_after = 0);

}  // namespace ovir::fast
