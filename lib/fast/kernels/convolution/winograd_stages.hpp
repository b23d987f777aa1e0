// The stages of Winograd's convolution that bf16 and u8 share: who transforms, multiplies and stores which tiles.
// A pixel of a block is 16 elements of 4 bytes: words of two or four channels.
#pragma once
#include <array>
#include <limits>
#include <utility>

#include "fast/isa/narrow.hpp"
#include "fast/kernels/convolution/shape.hpp"
#include "fast/kernels/convolution/winograd_chunks.hpp"

namespace ovir::fast {

struct WinogradGeometry {
  static constexpr i64 kTilesTogether = 56;  // of a product of a panel

  int m;
  i64 window, points;  ///< m + taps of a side - 1, and its square
  i64 across, down;    ///< tiles of an image, which an output slice of a volume is
  i64 plane_blocks;    ///< of what is transformed, for a plane of a volume's filters
  i64 blocks, panels;  ///< for all planes, and of the outputs
  i64 split;           ///< of a block of the input into those
  /// Each chunk takes some tiles through all three stages in its own memory: where the filters are small, or many tiles
  /// use them. Else the stages are shared: rows of tiles are transformed by all chunks, then each takes panels.
  bool own = false;
  i64 rows = 1;    ///< of tiles, at once, where the stages are shared
  i64 chunks = 1;  ///< of the tiles of an image, where they are not

  /// Words of a panel's transformed filters at a point.
  i64 point_size() const { return blocks * kBlock * kColumns; }

  static constexpr int kManyThreads = std::numeric_limits<int>::max();

  /// Of m × m output pixels a tile, for a pool of so many threads. `block_count`: of a plane of filters. Chunks that
  /// have memory of their own take `together` tiles or more.
  WinogradGeometry(const ConvolutionShape& s, int tile, int threads, i64 block_count, i64 together, i64 block_split = 1)
      : m(tile),
        window(tile + s.plane_height() - 1),
        points(window * window),
        across(ceil_div(s.out_width, tile)),
        down(ceil_div(s.out_slice_height(), tile)),
        plane_blocks(block_count),
        blocks(block_count * s.slices.planes),
        panels(ceil_div(s.outputs, kColumns)),
        split(block_split) {
    constexpr i64 kFilters = 192 << 10;  // transformed filters that stay in the cache of each thread
    constexpr i64 kOwn = 48 << 10;       // of what is transformed and its sums, of a chunk that has its own
    constexpr i64 kWorthHalving = 16;    // tiles
    constexpr i64 kShared = 2 << 20;     // transformed input that chunks share
    const auto tile_size = points * blocks * kBlock;
    const auto count = across * down, each = std::max<i64>(tile_size + points * kColumns, 1);
    if (tile_size * s.outputs <= kFilters) {
      own = true;
      const auto fits = kOwn / each;
      chunks = ceil_div(count, std::max(fits - fits % together, together));
      chunks += chunks > 1 || count >= kWorthHalving ? chunks % 2 : 0;  // two threads have as much to do
      return;
    }
    const auto images = s.batch * s.slices.out;
    if (const auto parts = winograd_chunks(images, count, count * m * m, each, kTilesTogether, threads); parts > 0) {
      own = true;
      chunks = parts;
      return;
    }
    rows = std::clamp<i64>(kShared / std::max<i64>(tile_size * across, 1), 1, std::max<i64>(down, 1));
    rows = ceil_div(down, ceil_div(down, rows));
  }
  i64 tiles() const { return own ? ceil_div(across * down, chunks) : rows * across; }
  /// Elements between the points of the transformed input; not a multiple of a page, or lines would fall together.
  i64 input_step(i64 tiles) const { return (blocks * tiles + 1) * kBlock; }
  i64 input_size(i64 tiles) const { return points * input_step(tiles); }
  i64 output_step(i64 tiles) const { return (2 * tiles + 1) * kBlock; }
  i64 output_size(i64 tiles) const { return points * output_step(tiles); }
  i64 scratch_size(i64 threads) const {
    const auto input = input_size(tiles()), output = output_size(std::min(tiles(), own ? tiles() : kTilesTogether));
    return own ? threads * (input + output) : input + threads * output;
  }
};

/// Scratch memory for a pool of so many threads, or fewer; geometry(threads).
template <class Geometry>
i64 winograd_stages_scratch_size(const ConvolutionShape& s, int threads, Geometry geometry) {
  const WinogradGeometry few = geometry(1), many = geometry(WinogradGeometry::kManyThreads);
  if (!few.own || many.own) return few.scratch_size(threads);
  const auto images = s.batch * s.slices.out;
  return std::max(few.scratch_size(std::min<i64>(threads, images * few.chunks)), many.scratch_size(threads));
}

/// Some tiles of one point by the columns of a panel: sums of 4 bytes, those of tile t at out[t·16], 16 columns `half`
/// apart.
template <class Element>
struct WinogradProduct {
  const Element* in;  ///< tiles side by side, blocks `block` apart
  i64 block, tiles;
  i64 panel, point;
  float* out;
  i64 half;
  Ahead* ahead;
};

/// The same in words of two channels; `filters` are those of the panel at the point.
inline NarrowSum narrow_sum(const WinogradProduct<Word>& p, const WinogradGeometry& g, const Word* filters) {
  return {.in = p.in,
          .pixel = kBlock,
          .block = p.block,
          .taps = kOneTap,
          .blocks = g.blocks,
          .tap_count = 1,
          .steps = kBlock,
          .last_steps = kBlock,
          .weights = filters,
          .ahead = p.ahead};
}

/// The sums of `count` tiles of a row from tile (ty, tx) on: points `step` apart, 16 columns `half` apart, tiles 16.
struct WinogradSums {
  i64 image, panel, ty, tx, count;
  const float* from;
  i64 step, half;
};

/// store(sums) for each of these tiles by itself.
template <class Store>
void each_tile(WinogradSums sums, Store store) {
  for (auto left = std::exchange(sums.count, 1); left > 0; --left, ++sums.tx, sums.from += kBlock) store(sums);
}

/// `Loops` computes:
///   transform(pixels, row, to, step)   a window of one block, whose rows are `row` elements apart, to its points
///   pixels()                           the most tiles of a product at once
///   multiply(WinogradProduct)
///   filters(panel, point)              where they lie, up to the end of the last point: they are asked for beforehand
///   store(WinogradSums)                the pixels of tiles of a row
template <class Element, class Loops>
class WinogradStages {
 public:
  /// `pad` surrounds the planes.
  WinogradStages(const ConvolutionShape& shape, const WinogradGeometry& geometry, const Loops& loops, Element pad = {})
      : s_(shape.slice()), slices_(shape.slices), g_(geometry), loops_(loops), pad_(pad) {}

  void run(const Element* in, float* scratch, ThreadPool& pool) const {
    const auto input = g_.input_size(g_.tiles());
    if (g_.own) {
      Slots slots(scratch, input + g_.output_size(g_.tiles()), slots_for(pool));
      return parallel(pool, s_.batch * g_.chunks, [&](i64 chunk) {
        const Part tiles(g_.across * g_.down, g_.chunks, chunk % g_.chunks);
        const auto image = chunk / g_.chunks, count = tiles.size();
        const Slots::Lease room(slots);
        auto* transformed = reinterpret_cast<Element*>(room.data());
        for (i64 b = 0; b < g_.blocks; ++b)
          for (i64 t = 0; t < count; ++t) {
            const auto tile = tiles.begin + t;
            transform(in, image, b, tile / g_.across, tile % g_.across, transformed + (b * count + t) * kBlock,
                      g_.input_step(count));
          }
        for (i64 p = 0; p < g_.panels; ++p)
          panel(image, p, tiles.begin, 0, count, count, transformed, room.data() + input);
      });
    }
    const auto bands = ceil_div(g_.down, g_.rows);
    auto* transformed = reinterpret_cast<Element*>(scratch);
    Slots slots(scratch + input, g_.output_size(std::min(g_.tiles(), g_.kTilesTogether)), slots_for(pool));
    for (i64 i = 0; i < s_.batch * bands; ++i) {
      const Part rows(g_.down, bands, i % bands);
      const auto image = i / bands, count = rows.size() * g_.across;
      transform(in, image, rows, transformed, pool);
      const auto parts = ceil_div(count, g_.kTilesTogether);
      parallel(pool, g_.panels * parts, [&](i64 chunk) {
        const Part tiles(count, parts, chunk / g_.panels);
        const Slots::Lease room(slots);
        panel(image, chunk % g_.panels, rows.begin * g_.across, tiles.begin, tiles.end, count, transformed,
              room.data());
      });
    }
  }

  /// Rows of tiles of all blocks.
  void transform(const Element* in, i64 image, Part rows, Element* to, ThreadPool& pool) const {
    const auto count = rows.size() * g_.across;
    const auto cost = static_cast<double>(g_.across * g_.points) * 2;
    parallel_ranges(pool, g_.blocks * rows.size(), cost, [&](i64 begin, i64 end) {
      for (auto line = begin; line < end; ++line) {
        const auto b = line % g_.blocks, y = line / g_.blocks;
        for (i64 x = 0; x < g_.across; ++x)
          transform(in, image, b, rows.begin + y, x, to + (b * count + y * g_.across + x) * kBlock,
                    g_.input_step(count));
      }
    });
  }

  /// Tiles [first, last) of `count` transformed ones, the first of which is tile `origin` of the image, by a panel.
  void panel(i64 image, i64 panel, i64 origin, i64 first, i64 last, i64 count, const Element* input,
             float* sums) const {
    const auto here = last - first, parts = ceil_div(here, loops_.pixels()), step = g_.output_step(here);
    for (i64 point = 0; point < g_.points; ++point) {
      Ahead ahead;
      ahead.next = reinterpret_cast<const char*>(loops_.filters(panel, point + 1));
      ahead.end = point + 1 < g_.points ? reinterpret_cast<const char*>(loops_.filters(panel, point + 2)) : ahead.next;
      ahead.lines = ceil_div(2 * kBlock, parts);
      for (i64 i = 0; i < parts; ++i) {
        const Part part(here, parts, i);
        loops_.multiply(
            WinogradProduct<Element>{.in = input + point * g_.input_step(count) + (first + part.begin) * kBlock,
                                     .block = count * kBlock,
                                     .tiles = part.size(),
                                     .panel = panel,
                                     .point = point,
                                     .out = sums + point * step + part.begin * kBlock,
                                     .half = here * kBlock,
                                     .ahead = &ahead});
      }
    }
    for (auto t = first; t < last;) {
      const auto tx = (origin + t) % g_.across, count = std::min(last - t, g_.across - tx);
      loops_.store({.image = image,
                    .panel = panel,
                    .ty = (origin + t) / g_.across,
                    .tx = tx,
                    .count = count,
                    .from = sums + (t - first) * kBlock,
                    .step = step,
                    .half = here * kBlock});
      t += count;
    }
  }

 private:
  /// Tile (ty, tx) of a transformed block.
  void transform(const Element* in, i64 image, i64 block, i64 ty, i64 tx, Element* to, i64 step) const {
    const auto each = g_.plane_blocks, of_plane = block % each;
    const auto part = of_plane % g_.split * (kBlock / g_.split);
    const auto slice = image % slices_.out * slices_.stride + block / each * slices_.dilation - slices_.pad;
    const bool inside = slice >= 0 && slice < slices_.count;
    const auto first = (image / slices_.out * ceil_div(each, g_.split) + of_plane / g_.split) * slices_.count;
    const auto* plane = in + (first + (inside ? slice : 0)) * s_.plane() * kBlock;
    const auto y = ty * g_.m - s_.pad_top, x = tx * g_.m - s_.pad_left, row = s_.width * kBlock;
    if (inside && y >= 0 && x >= 0 && y + g_.window <= s_.height && x + g_.window <= s_.width)
      return loops_.transform(plane + y * row + x * kBlock + part, row, to, step);
    alignas(64) std::array<Element, 36 * kBlock> window;
    for (i64 i = 0; i < g_.window; ++i)
      for (i64 j = 0; j < g_.window; ++j) {
        auto* pixel = window.data() + (i * g_.window + j) * kBlock;
        if (inside && y + i >= 0 && y + i < s_.height && x + j >= 0 && x + j < s_.width)
          std::copy_n(plane + (y + i) * row + (x + j) * kBlock, kBlock, pixel);
        else std::fill_n(pixel, kBlock, pad_);
      }
    loops_.transform(window.data() + part, g_.window * kBlock, to, step);
  }

  const ConvolutionShape s_;  ///< of output slices
  const Slices slices_;
  const WinogradGeometry& g_;
  const Loops& loops_;
  Element pad_;
};

}  // namespace ovir::fast
