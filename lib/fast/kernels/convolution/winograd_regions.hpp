// How Winograd's convolution cuts its output into tiles, and these into what is transformed and multiplied together.
#pragma once
#include <algorithm>
#include <limits>

#include "base/int.hpp"
#include "fast/isa/tile.hpp"
#include "fast/kernels/chunks.hpp"
#include "fast/kernels/convolution/volume.hpp"
#include "fast/kernels/convolution/winograd_chunks.hpp"

namespace ovir::fast {

/// One axis: tiles of `size` output pixels that lie `apart` (the dilation), as many tiles side by side.
struct WinogradAxis {
  i64 size, window;  ///< output pixels of a tile, and the input pixels that it reads
  i64 stride, apart, tiles;

  WinogradAxis(i64 length, i64 taps, i64 stride_, i64 dilation, WinogradTile tile)
      : size(taps == 1 ? 1 : side_of(tile).pixels),
        window(taps == 1 ? 1 : side_of(tile).points),
        stride(stride_),
        apart(dilation),
        tiles(length / (size * dilation) * dilation + std::min(length % (size * dilation), dilation)) {}
  /// The first output pixel of a tile.
  i64 first(i64 tile) const { return apart == 1 ? tile * size : tile / apart * size * apart + tile % apart; }
  /// How many of a tile's output pixels there are.
  i64 pixels(i64 first, i64 length) const { return std::min(size, ceil_div(length - first, apart)); }
  /// Output pixels between a tile and the next, of as many as follow() says.
  i64 distance() const { return apart == 1 ? size : 1; }
  /// How many tiles from this one on, of `most`, lie so and have all of `length` pixels, of which the first one's are
  /// from `first` on, `pixels` of them `apart`, and the next one's `further` on; 1 where not even this one has.
  i64 follow(i64 tile, i64 most, i64 first, i64 pixels, i64 further, i64 length) const {
    if (apart > 1) most = std::min(most, apart - tile % apart);
    const auto room = length - 1 - (pixels - 1) * apart - first;
    return first < 0 || room < 0 ? 1 : std::min(most, room / further + 1);
  }
};

/// The tiles of slices.
struct WinogradAxes {
  WinogradAxis y, x;
  WinogradAxes(const ConvolutionShape& s, WinogradTile tile)
      : y(s.out_height, s.kernel_height, s.stride_y, s.dilation_y, tile),
        x(s.out_width, s.kernel_width, s.stride_x, s.dilation_x, tile) {}
};

/// Output slices, and tiles.
struct WinogradRegion {
  Part slices, rows, columns;
  i64 before = 0, after = 0;  ///< of its first and last row that belong to others
  i64 tiles() const { return rows.size() * columns.size() - before - after; }  ///< of a slice
  /// Tiles of a row, counted from the first.
  Part of_row(i64 row) const {
    return {columns.begin + (row == 0 ? before : 0), columns.end - (row + 1 == rows.size() ? after : 0)};
  }
};

/// Output slices whose tiles are multiplied together, for they meet the same planes of the kernel, and some of the
/// tiles, counted through the slices.
struct WinogradRun {
  Part slices, planes, tiles;
};

/// The regions of a volume.
struct WinogradRegions {
  static constexpr i64 kMaxBlocks = 512;          // of channels
  static constexpr i64 kMaxPlanes = 5;            // of a kernel, whose filters are transposed together:
  static constexpr i64 kMaxTaken = 45;            // taps of all planes
  static constexpr i64 kTilesTogether = 56;       // of a product of a panel
  static constexpr i64 kFewTiles = 28;            // for which filters are read again
  static constexpr i64 kFewestTiles = 8;          // the same, where there are few in all, for a second thread's sake
  static constexpr i64 kFilters = 192 << 10;      // transformed filters of a plane of which each chunk reads all
  static constexpr i64 kTransformed = 128 << 10;  // floats of transformed input of a chunk of its own
  static constexpr i64 kShared = 2 << 20;         // of what chunks share
  static constexpr i64 kOnceShared = 4 << 20;     // the same, where filters are packed panel by panel

  WinogradTile tile;
  WinogradAxis y, x;
  i64 points, across, down, blocks, panels;
  /// Each chunk takes a region through all stages in its own memory: the filters are small, or there are `chunks`, by
  /// which all filters pass. Else chunks transform a region together, then each takes panels.
  bool own;
  i64 chunks = 0;           ///< of as many tiles each
  i64 rows, columns, deep;  ///< of a region

  /// For a pool of so many threads.
  WinogradRegions(const VolumeShape& v, WinogradTile t, int threads) : WinogradRegions(v, t, {v.slice, t}, threads) {}
  /// Of filters that are packed in every run.
  static WinogradRegions once(const VolumeShape& v, WinogradTile t) { return {v, t, {v.slice, t}, kOnce}; }
  static constexpr int kOnce = 0, kNoChunks = std::numeric_limits<int>::max();  ///< instead of threads
  WinogradRegions(const VolumeShape& v, WinogradTile t, const WinogradAxes& axes, int threads)
      : tile(t),
        y(axes.y),
        x(axes.x),
        points(y.window * x.window),
        across(std::max<i64>(x.tiles, 1)),
        down(std::max<i64>(y.tiles, 1)),
        blocks(blocks_of(v.slice.channels)),
        panels(ceil_div(v.slice.outputs, kColumns)) {
    const auto filters = points * blocks * kBlock * v.slice.outputs;
    const bool once = threads == kOnce;
    own = !once && filters <= kFilters;
    if (!own && !once && v.slices == 1 && v.out_slices == 1 && !is_line(tile))
      chunks = winograd_chunks(v.slice.batch, down * across, v.slice.out_plane(), points * (blocks * kBlock + kColumns),
                               kTilesTogether, threads);
    if (chunks > 0) {
      own = true;
      rows = std::min(down, (ceil_div(down * across, chunks) + across - 2) / across + 1);
      columns = across;
      deep = 1;
      return;
    }
    const auto shared = once ? std::max(kOnceShared, filters / 4) : kShared;  // filters need no room beside it
    const auto most = own ? kTransformed : shared, tiles = most / (points * blocks * kBlock);
    deep = v.out_slices;
    const auto half = ceil_div(v.out_slices * down * across, i64{2}), few = std::clamp(half, kFewestTiles, kFewTiles);
    if (own) {
      deep = std::clamp<i64>((tiles / across - (v.planes - 1) * v.dilation) / v.stride, 1, v.out_slices);
      if (v.planes == 1) deep = std::clamp<i64>(few / (down * across), 1, deep);
      deep = ceil_div(v.out_slices, ceil_div(v.out_slices, deep));
    }
    const auto there = std::max<i64>(own ? deep : v.slices, 1);  // slices that are transformed
    columns = ceil_div(across, ceil_div(across * there, std::max(tiles, there)));
    rows = std::clamp<i64>(tiles / (columns * there), 1, down);
    if (own && is_line(tile) && !is_upright()) columns = ceil_div(across, ceil_div(across, few));
    if (own) rows = std::min(rows, ceil_div(few, columns * deep));
    rows = ceil_div(down, ceil_div(down, rows));
  }
  /// Lines that are tiles have their pixels one below the other.
  bool is_upright() const { return x.size == 1; }
  i64 bands() const { return ceil_div(down, rows); }
  i64 strips() const { return ceil_div(across, columns); }
  /// Of a volume.
  i64 regions(const VolumeShape& v) const {
    return chunks > 0 ? chunks : ceil_div(v.out_slices, deep) * bands() * strips();
  }
  WinogradRegion region(const VolumeShape& v, i64 i) const {
    if (chunks > 0) {
      const Part of(down * across, chunks, i), all(of.begin / across, ceil_div(of.end, across));
      return {{0, 1}, all, {0, across}, of.begin - all.begin * across, all.end * across - of.end};
    }
    const auto depths = ceil_div(v.out_slices, deep);
    return {Part(v.out_slices, depths, i / strips() / bands()), Part(down, bands(), i / strips() % bands()),
            Part(across, strips(), i % strips())};
  }
  /// Floats of the transformed slices of a region.
  i64 input_size(const VolumeShape& v) const {
    const auto read = std::min(v.slices, (deep - 1) * v.stride + (v.planes - 1) * v.dilation + 1);
    return points * (blocks * read * rows * columns + 1) * kBlock;
  }
  static i64 sums_step(const WinogradRun& run) { return (2 * run.tiles.size() + 1) * kBlock; }
  i64 sums_size(const WinogradRun& run) const { return points * sums_step(run); }
  i64 max_sums_size() const { return points * (2 * kTilesTogether + 1) * kBlock; }
  i64 scratch_size(const VolumeShape& v, i64 threads) const {
    return (own ? threads : 1) * input_size(v) + threads * max_sums_size();
  }
};

/// Transformed slices [first, last) of a region: [point][block][slice][tile], points `step` apart.
struct WinogradTransformed {
  float* data;
  i64 first, last, tiles, step;

  WinogradTransformed(const VolumeShape& v, const WinogradRegions& g, const WinogradRegion& r, float* to)
      : data(to), first(v.slices), last(0), tiles(r.tiles()) {
    for (auto z = r.slices.begin; z < r.slices.end; ++z)
      if (const auto planes = v.inside(z); planes.size() > 0) {
        first = std::min(first, v.slice_of(z, planes.begin));
        last = std::max(last, v.slice_of(z, planes.end - 1) + 1);
      }
    first = std::min(first, last);
    // Not a multiple of a page, or lines would fall together.
    step = (g.blocks * slices() * tiles + 1) * kBlock;
  }
  i64 slices() const { return last - first; }
};

}  // namespace ovir::fast
