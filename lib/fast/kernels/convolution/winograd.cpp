#include "fast/kernels/convolution/winograd.hpp"

#include <array>

#include "fast/kernels/product/packed.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kFilterFloats = 192 << 10;  // transformed filters that stay in the cache of each thread
constexpr i64 kTileFloats = 96 << 10;     // transformed input of a chunk that has its own
constexpr i64 kSharedFloats = 2 << 20;    // transformed input that chunks share
constexpr i64 kTilesTogether = 56;        // of a product of a panel

struct Geometry {
  int m;
  i64 window, points;  ///< m + 2, and its square
  i64 across, down;    ///< tiles of an image
  i64 blocks, panels;
  /// The filters are small: each chunk takes rows of tiles through all three stages in its own memory. Else the stages
  /// are shared: rows of tiles are transformed by all chunks, then each takes panels.
  bool own;
  i64 rows;  ///< of tiles, at once

  Geometry(const ConvolutionShape& s, int tile)
      : m(tile),
        window(tile + 2),
        points(window * window),
        across(ceil_div(s.out_width, tile)),
        down(ceil_div(s.out_height, tile)),
        blocks(blocks_of(s.channels)),
        panels(ceil_div(s.outputs, kColumns)) {
    const auto row = points * blocks * across * kBlock;
    own = points * blocks * kBlock * s.outputs <= kFilterFloats;
    const auto wanted = own ? ceil_div(28, across) : down;
    rows = std::clamp<i64>((own ? kTileFloats : kSharedFloats) / std::max<i64>(row, 1), 1,
                           std::clamp<i64>(wanted, 1, down));
    rows = ceil_div(down, ceil_div(down, rows));
  }
  i64 tiles() const { return rows * across; }
  /// Floats between the points of the transformed input; not a multiple of a page, or lines would fall together.
  i64 input_step(i64 tiles) const { return (blocks * tiles + 1) * kBlock; }
  i64 input_size(i64 tiles) const { return points * input_step(tiles); }
  i64 output_step(i64 tiles) const { return (2 * tiles + 1) * kBlock; }
  i64 output_size(i64 tiles) const { return points * output_step(tiles); }
};

struct Job {
  const IsaTable& table;
  const ConvolutionShape& s;
  const Geometry& g;
  const Epilogue& e;
  const float* filters;
  float* out;

  /// Tile (ty, tx) of a block whose plane is `plane`.
  void transform(const float* plane, i64 ty, i64 tx, float* to, i64 step) const {
    const auto y = ty * g.m - s.pad_top, x = tx * g.m - s.pad_left, row = s.width * kBlock;
    if (y >= 0 && x >= 0 && y + g.window <= s.height && x + g.window <= s.width)
      return table.winograd_input(g.m, plane + y * row + x * kBlock, row, to, step);
    alignas(64) std::array<float, 36 * kBlock> window;
    for (i64 i = 0; i < g.window; ++i)
      for (i64 j = 0; j < g.window; ++j) {
        auto* pixel = window.data() + (i * g.window + j) * kBlock;
        if (y + i >= 0 && y + i < s.height && x + j >= 0 && x + j < s.width)
          std::copy_n(plane + (y + i) * row + (x + j) * kBlock, kBlock, pixel);
        else std::fill_n(pixel, kBlock, 0.0f);
      }
    table.winograd_input(g.m, window.data(), g.window * kBlock, to, step);
  }

  /// Tiles [first, last) of `count` transformed ones, numbered along rows from tile row `row` on, by a panel.
  void panel(i64 image, i64 panel, i64 row, i64 first, i64 last, i64 count, const float* input, float* sums) const {
    static constexpr i64 kNoTaps[1] = {0};
    const Panels all{filters, g.points * g.blocks * kBlock, s.outputs};
    const auto columns = all.columns(panel), here = last - first, depth = g.blocks * kBlock;
    const auto parts = ceil_div(here, table.pixels), step = g.output_step(here);
    for (i64 point = 0; point < g.points; ++point) {
      Ahead ahead;
      ahead.next = reinterpret_cast<const char*>(all.panel(panel) + (point + 1) * depth * columns);
      ahead.end = point + 1 < g.points ? ahead.next + depth * columns * 4 : ahead.next;
      ahead.lines = ceil_div(2 * kBlock, parts);
      for (i64 i = 0; i < parts; ++i) {
        const Part part(here, parts, i);
        Tile tile{};
        tile.in = input + point * g.input_step(count) + (first + part.begin) * kBlock;
        tile.pixel = kBlock;
        tile.block = count * kBlock;
        tile.taps = kNoTaps;
        tile.blocks = g.blocks;
        tile.tap_count = 1;
        tile.steps = kBlock;
        tile.weights = all.panel(panel) + point * depth * columns;
        tile.out = sums + point * step + part.begin * kBlock;
        tile.out_pixel = kBlock;
        tile.out_block = here * kBlock;
        tile.ahead = &ahead;
        begin(tile, {}, 0, nullptr, 0, 0);
        table.packed(tile, static_cast<int>(part.size()), static_cast<int>(columns));
      }
    }
    for (i64 place = 0; place < columns / kBlock; ++place)
      for (auto t = first; t < last; ++t)
        store(image, panel * kColumns + place * kBlock, row + t / g.across, t % g.across,
              sums + (place * here + t - first) * kBlock, step);
  }

  /// The pixels of tile (ty, tx), from its transformed sums.
  void store(i64 image, i64 channel, i64 ty, i64 tx, const float* from, i64 step) const {
    const auto y = ty * g.m, x = tx * g.m, row = s.out_width * kBlock;
    const auto rows = std::min<i64>(g.m, s.out_height - y), columns = std::min<i64>(g.m, s.out_width - x);
    const auto place =
        (image * blocks_of(s.outputs) + channel / kBlock) * s.out_plane() * kBlock + y * row + x * kBlock;
    const auto* residual = e.residual ? e.residual + place : nullptr;
    Tile tile{};
    tile.out = out + place;
    tile.out_pixel = kBlock;
    begin(tile, e, channel, residual, kBlock, 0);
    table.winograd_output(g.m, from, step,
                          {.bias = tile.bias,
                           .residual = tile.residual,
                           .low = tile.low,
                           .high = tile.high,
                           .out = tile.out,
                           .row = row,
                           .rows = static_cast<int>(rows),
                           .columns = static_cast<int>(columns)});
    if (e.is_simple()) return;
    for (i64 r = 0; r < rows; ++r, tile.out += row)
      finish(table, tile, static_cast<int>(columns), kBlock, e, channel, residual ? residual + r * row : nullptr,
             kBlock, 0);
  }
};

}  // namespace

bool winograd_fits(const ConvolutionShape& s) {
  return s.kernel_height == 3 && s.kernel_width == 3 && s.stride_y == 1 && s.stride_x == 1 && s.dilation_y == 1 &&
         s.dilation_x == 1 && s.groups == 1;
}

int winograd_tile(const ConvolutionShape& s) {
  if (!winograd_fits(s) || s.channels < 2 * kBlock || s.outputs < 2 * kBlock) return 0;
  const auto side = std::min(s.out_height, s.out_width);
  if (side >= 24) return 4;
  return side >= 6 ? 2 : 0;
}

i64 winograd_filters_size(const ConvolutionShape& s, int m) {
  const Geometry g(s, m);
  return panels_size(g.points * g.blocks * kBlock, s.outputs);
}

void winograd_pack(const ConvolutionShape& s, int m, const Weights& filters, float* to, ThreadPool& pool) {
  const Geometry g(s, m);
  const auto& table = isa();
  const Panels panels{to, g.points * g.blocks * kBlock, s.outputs};
  const auto cost = static_cast<double>(kColumns * kBlock * (9 + 2 * g.points)) / 8;
  const auto each = s.channels * 9;
  // The filters of sixteen channels are transposed, so that a vector has sixteen outputs.
  pack_blocks(filters, s.outputs * each, kColumns * each, g.blocks, cost, pool,
              [&](i64 panel, i64 block, const float* from) {
                alignas(64) std::array<float, kBlock * 9 * kColumns> rows;
                const auto columns = panels.columns(panel), valid = std::min(columns, s.outputs - panel * kColumns),
                           channels = std::min(kBlock, s.channels - block * kBlock);
                if (valid < columns || channels < kBlock) rows.fill(0.0f);
                table.transpose(from + block * kBlock * 9, each, rows.data(), columns, valid, channels * 9);
                auto* out = to + (panels.panel(panel) - to) + block * kBlock * columns;
                for (i64 c = 0; c < kBlock; ++c)
                  for (i64 place = 0; place < columns; place += kBlock)
                    table.winograd_filter(m, rows.data() + c * 9 * columns + place, columns, out + c * columns + place,
                                          g.blocks * kBlock * columns);
              });
}

i64 winograd_scratch_size(const ConvolutionShape& s, int m, int threads) {
  const Geometry g(s, m);
  const auto input = g.input_size(g.tiles()),
             output = g.output_size(std::min(g.tiles(), g.own ? g.tiles() : kTilesTogether));
  return g.own ? threads * (input + output) : input + threads * output;
}

void winograd_convolution(const ConvolutionShape& s, int m, const float* filters, const float* in, float* out,
                          const Epilogue& epilogue, float* scratch, ThreadPool& pool) {
  if (s.out_plane() == 0) return;
  const Geometry g(s, m);
  const Job job{isa(), s, g, epilogue, filters, out};
  const auto image_size = g.blocks * s.plane() * kBlock, bands = ceil_div(g.down, g.rows);
  if (g.own) {
    const auto input = g.input_size(g.tiles());
    Slots slots(scratch, input + g.output_size(g.tiles()), slots_for(pool));
    parallel(pool, s.batch * bands, [&](i64 chunk) {
      const Part rows(g.down, bands, chunk % bands);
      const auto image = chunk / bands, count = rows.size() * g.across;
      const Slots::Lease room(slots);
      for (i64 b = 0; b < g.blocks; ++b)
        for (i64 t = 0; t < count; ++t)
          job.transform(in + image * image_size + b * s.plane() * kBlock, rows.begin + t / g.across, t % g.across,
                        room.data() + (b * count + t) * kBlock, g.input_step(count));
      for (i64 panel = 0; panel < g.panels; ++panel)
        job.panel(image, panel, rows.begin, 0, count, count, room.data(), room.data() + input);
    });
  } else {
    const auto input = g.input_size(g.tiles());
    Slots slots(scratch + input, g.output_size(std::min(g.tiles(), kTilesTogether)), slots_for(pool));
    for (i64 i = 0; i < s.batch * bands; ++i) {
      const Part rows(g.down, bands, i % bands);
      const auto image = i / bands, count = rows.size() * g.across;
      parallel_ranges(pool, g.blocks * rows.size(), static_cast<double>(g.across * g.points) * 2,
                      [&](i64 begin, i64 end) {
                        for (auto line = begin; line < end; ++line) {
                          const auto b = line / rows.size(), y = line % rows.size();
                          for (i64 x = 0; x < g.across; ++x)
                            job.transform(in + image * image_size + b * s.plane() * kBlock, rows.begin + y, x,
                                          scratch + (b * count + y * g.across + x) * kBlock, g.input_step(count));
                        }
                      });
      const auto parts = ceil_div(count, kTilesTogether);
      parallel(pool, g.panels * parts, [&](i64 chunk) {
        const Part tiles(count, parts, chunk % parts);
        const Slots::Lease room(slots);
        job.panel(image, chunk / parts, rows.begin, tiles.begin, tiles.end, count, scratch, room.data());
      });
    }
  }
  clear_padding(s, epilogue.activation, out);
}

}  // namespace ovir::fast
