// The stages of Winograd's convolution that f32, bf16 and u8 share: who transforms, multiplies and stores which tiles.
// A pixel of a block is 16 elements of 4 bytes: floats, or words of two or four channels.
#pragma once
#include <array>

#include "fast/isa/narrow.hpp"
#include "fast/kernels/convolution/shape.hpp"

namespace ovir::fast {

struct WinogradGeometry {
  static constexpr i64 kTilesTogether = 56;  // of a product of a panel

  /// One axis: tiles of `size` output pixels that lie `apart` (the dilation), as many tiles side by side.
  struct Axis {
    i64 size, apart, tiles;
    Axis(i64 length, i64 tile, i64 dilation)
        : size(tile),
          apart(dilation),
          tiles(length / (tile * dilation) * dilation + std::min(length % (tile * dilation), dilation)) {}
    /// Input pixels of a tile.
    i64 window() const { return size == 1 ? 1 : size + 2; }
    /// The first output pixel of a tile.
    i64 first(i64 tile) const { return apart == 1 ? tile * size : tile / apart * size * apart + tile % apart; }
    /// How many of a tile's output pixels there are.
    i64 pixels(i64 first, i64 length) const { return std::min(size, ceil_div(length - first, apart)); }
  };

  int m;  ///< output pixels of a side, or kWinogradLine
  Axis y, x;
  i64 points;          ///< of a window
  i64 across, down;    ///< tiles of an image
  i64 blocks, panels;  ///< of what is transformed, and of the outputs
  i64 split;           ///< of a block of the input into those
  /// The filters are small: each chunk takes rows of tiles through all three stages in its own memory. Else the stages
  /// are shared: rows of tiles are transformed by all chunks, then each takes panels.
  bool own;
  i64 rows;     ///< of tiles, at once
  i64 columns;  ///< parts of rows that are longer than what is transformed at once

  /// Words of a panel's transformed filters at a point.
  i64 point_size() const { return blocks * kBlock * kColumns; }

  /// Of m × m output pixels a tile, or of the taps' line. Chunks of their own take `together` tiles or more.
  WinogradGeometry(const ConvolutionShape& s, int tile, i64 block_count, i64 together, i64 block_split = 1)
      : m(tile),
        y(s.out_height, side(s.kernel_height), s.dilation_y),
        x(s.out_width, side(s.kernel_width), s.dilation_x),
        points(y.window() * x.window()),
        across(x.tiles),
        down(y.tiles),
        blocks(block_count),
        panels(ceil_div(s.outputs, kColumns)),
        split(block_split) {
    constexpr i64 kFilters = 192 << 10;  // transformed filters that stay in the cache of each thread
    constexpr i64 kTile = 96 << 10;      // transformed input of a chunk that has its own
    constexpr i64 kShared = 2 << 20;     // transformed input that chunks share
    const auto row = points * blocks * across * kBlock;
    own = points * blocks * kBlock * s.outputs <= kFilters;
    const auto wanted = own ? ceil_div(together, across) : down;
    rows = std::clamp<i64>((own ? kTile : kShared) / std::max<i64>(row, 1), 1, std::clamp<i64>(wanted, 1, down));
    rows = ceil_div(down, ceil_div(down, rows));
    columns = ceil_div(across, std::max<i64>(1, row / (own ? kTile : kShared)));
  }
  i64 tiles() const { return rows * columns; }
  /// A tile's output pixels along an axis of so many taps.
  i64 side(i64 taps) const { return m != kWinogradLine ? m : (taps == 1 ? 1 : 4); }
  /// Elements between the points of the transformed input; not a multiple of a page, or lines would fall together.
  i64 input_step(i64 tiles) const { return (blocks * tiles + 1) * kBlock; }
  i64 input_size(i64 tiles) const { return points * input_step(tiles); }
  i64 output_step(i64 tiles) const { return (2 * tiles + 1) * kBlock; }
  i64 output_size(i64 tiles) const { return points * output_step(tiles); }
  i64 scratch_size(int threads) const {
    const auto input = input_size(tiles()), output = output_size(std::min(tiles(), own ? tiles() : kTilesTogether));
    return own ? threads * (input + output) : input + threads * output;
  }
};

/// Tiles that are transformed at once, row by row.
struct WinogradArea {
  Part rows, columns;
  i64 count() const { return rows.size() * columns.size(); }
  i64 row(i64 tile) const { return rows.begin + tile / columns.size(); }
  i64 column(i64 tile) const { return columns.begin + tile % columns.size(); }
};

/// Some tiles of one point by the columns of a panel: sums of 4 bytes, those of tile t at out[t·16], 16 columns `half`
/// apart.
template <class Element>
struct WinogradProduct {
  const Element* in;  ///< tiles side by side, blocks `block` apart
  i64 block, tiles;
  i64 image, panel, point;
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

/// The sums of tile (ty, tx): points `step` apart, 16 columns `half` apart.
struct WinogradSums {
  i64 image, panel, ty, tx;
  const float* from;
  i64 step, half;
};

/// `Loops` computes:
///   transform(pixels, row, column, to, step)   a window of one block, whose rows are `row` elements apart and columns
///                                      `column`, to its points
///   pixels()                           the most tiles of a product at once
///   multiply(WinogradProduct)
///   filters(image, panel, point)       where they lie, up to the end of the last point: they are asked for beforehand
///   store(WinogradSums)                the pixels of a tile
template <class Element, class Loops>
class WinogradStages {
 public:
  /// `pad` surrounds the planes.
  WinogradStages(const ConvolutionShape& shape, const WinogradGeometry& geometry, const Loops& loops, Element pad = {})
      : s_(shape), g_(geometry), loops_(loops), pad_(pad) {}

  void run(const Element* in, float* scratch, ThreadPool& pool) const {
    const auto bands = ceil_div(g_.down, g_.rows), strips = ceil_div(g_.across, g_.columns),
               input = g_.input_size(g_.tiles());
    const auto area_of = [&](i64 i) {
      return WinogradArea{Part(g_.down, bands, i / strips % bands), Part(g_.across, strips, i % strips)};
    };
    if (g_.own) {
      Slots slots(scratch, input + g_.output_size(g_.tiles()), slots_for(pool));
      return parallel(pool, s_.batch * bands * strips, [&](i64 chunk) {
        const auto area = area_of(chunk);
        const auto image = chunk / (bands * strips), count = area.count();
        const Slots::Lease room(slots);
        auto* transformed = reinterpret_cast<Element*>(room.data());
        for (i64 b = 0; b < g_.blocks; ++b)
          for (i64 t = 0; t < count; ++t)
            transform(in, image, b, area.row(t), area.column(t), transformed + (b * count + t) * kBlock,
                      g_.input_step(count));
        for (i64 p = 0; p < g_.panels; ++p) panel(image, p, area, {0, count}, transformed, room.data() + input);
      });
    }
    auto* transformed = reinterpret_cast<Element*>(scratch);
    Slots slots(scratch + input, g_.output_size(std::min(g_.tiles(), g_.kTilesTogether)), slots_for(pool));
    for (i64 i = 0; i < s_.batch * bands * strips; ++i) {
      const auto area = area_of(i);
      const auto image = i / (bands * strips), count = area.count();
      transform(in, image, area, transformed, pool);
      const auto parts = ceil_div(count, g_.kTilesTogether);
      parallel(pool, g_.panels * parts, [&](i64 chunk) {
        const Part tiles(count, parts, chunk / g_.panels);
        const Slots::Lease room(slots);
        panel(image, chunk % g_.panels, area, tiles, transformed, room.data());
      });
    }
  }

  /// Tiles of all blocks.
  void transform(const Element* in, i64 image, const WinogradArea& area, Element* to, ThreadPool& pool) const {
    const auto count = area.count(), across = area.columns.size();
    const auto cost = static_cast<double>(across * g_.points) * 2;
    parallel_ranges(pool, g_.blocks * area.rows.size(), cost, [&](i64 begin, i64 end) {
      for (auto line = begin; line < end; ++line) {
        const auto b = line % g_.blocks, y = line / g_.blocks;
        for (i64 x = 0; x < across; ++x)
          transform(in, image, b, area.rows.begin + y, area.columns.begin + x,
                    to + (b * count + y * across + x) * kBlock, g_.input_step(count));
      }
    });
  }

  /// Some of the transformed tiles of an area by a panel.
  void panel(i64 image, i64 panel, const WinogradArea& area, Part tiles, const Element* input, float* sums) const {
    const auto first = tiles.begin, last = tiles.end, count = area.count();
    const auto here = last - first, parts = ceil_div(here, loops_.pixels()), step = g_.output_step(here);
    for (i64 point = 0; point < g_.points; ++point) {
      Ahead ahead;
      ahead.next = reinterpret_cast<const char*>(loops_.filters(image, panel, point + 1));
      ahead.end =
          point + 1 < g_.points ? reinterpret_cast<const char*>(loops_.filters(image, panel, point + 2)) : ahead.next;
      ahead.lines = ceil_div(2 * kBlock, parts);
      for (i64 i = 0; i < parts; ++i) {
        const Part part(here, parts, i);
        loops_.multiply(
            WinogradProduct<Element>{.in = input + point * g_.input_step(count) + (first + part.begin) * kBlock,
                                     .block = count * kBlock,
                                     .tiles = part.size(),
                                     .image = image,
                                     .panel = panel,
                                     .point = point,
                                     .out = sums + point * step + part.begin * kBlock,
                                     .half = here * kBlock,
                                     .ahead = &ahead});
      }
    }
    for (auto t = first; t < last; ++t)
      loops_.store({.image = image,
                    .panel = panel,
                    .ty = area.row(t),
                    .tx = area.column(t),
                    .from = sums + (t - first) * kBlock,
                    .step = step,
                    .half = here * kBlock});
  }

 private:
  /// Tile (ty, tx) of a transformed block.
  void transform(const Element* in, i64 image, i64 block, i64 ty, i64 tx, Element* to, i64 step) const {
    const auto part = block % g_.split * (kBlock / g_.split);
    const auto* plane = in + (image * ceil_div(g_.blocks, g_.split) + block / g_.split) * s_.plane() * kBlock;
    const auto y = g_.y.first(ty) - s_.pad_top, x = g_.x.first(tx) - s_.pad_left, row = s_.width * kBlock;
    const auto down = g_.y.window(), across = g_.x.window(), y_apart = g_.y.apart, x_apart = g_.x.apart;
    if (y >= 0 && x >= 0 && y + (down - 1) * y_apart < s_.height && x + (across - 1) * x_apart < s_.width)
      return loops_.transform(plane + y * row + x * kBlock + part, y_apart * row, x_apart * kBlock, to, step);
    alignas(64) std::array<Element, 36 * kBlock> window;
    for (i64 i = 0; i < down; ++i)
      for (i64 j = 0; j < across; ++j) {
        auto* pixel = window.data() + (i * across + j) * kBlock;
        const auto from_y = y + i * y_apart, from_x = x + j * x_apart;
        if (from_y >= 0 && from_y < s_.height && from_x >= 0 && from_x < s_.width)
          std::copy_n(plane + from_y * row + from_x * kBlock, kBlock, pixel);
        else std::fill_n(pixel, kBlock, pad_);
      }
    loops_.transform(window.data() + part, across * kBlock, kBlock, to, step);
  }

  const ConvolutionShape& s_;
  const WinogradGeometry& g_;
  const Loops& loops_;
  Element pad_;
};

}  // namespace ovir::fast
