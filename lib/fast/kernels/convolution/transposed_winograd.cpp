#include "fast/kernels/convolution/transposed_winograd.hpp"

#include <array>

#include "fast/kernels/convolution/winograd_stages.hpp"
#include "fast/kernels/product/packed.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kTaps = 4, kStride = 2, kTile = 3;
constexpr i64 kLeastSide = 8;  // of the input: filters are four times as large as those of direct sums

/// Phase p of an axis: output n·2 + p reads the inputs n + first and n + first + 1.
struct Phase {
  i64 first;  ///< of tap `last_tap`; the other tap is 2 before it
  i64 last_tap;
  i64 length;  ///< outputs
  Phase(i64 p, i64 pad, i64 out) : length(ceil_div(out - p, kStride)) {
    last_tap = (p + pad) % kStride + kStride;
    first = (p + pad - last_tap) / kStride;
  }
};

/// An axis of all phases: a tile reads from 3·t + first on.
struct Axis {
  std::array<Phase, kStride> phases;
  i64 first, length;
  Axis(i64 pad, i64 out) : phases{Phase(0, pad, out), Phase(1, pad, out)} {
    first = std::min(phases[0].first, phases[1].first);
    length = std::max(phases[0].length + behind(0), phases[1].length + behind(1));
  }
  /// How many outputs before 3·t the tiles of a phase begin.
  i64 behind(i64 phase) const { return phases[phase].first - first; }
};

struct Axes {
  Axis y, x;
  explicit Axes(const ConvolutionShape& s) : y(s.pad_top, s.out_height), x(s.pad_left, s.out_width) {}
};

/// As the stages see it: of 2×2 taps, whose outputs are those of all phases.
ConvolutionShape seen(const ConvolutionShape& s) {
  const Axes axes(s);
  auto t = s;
  t.outputs = kStride * kStride * blocks_of(s.outputs) * kBlock;
  t.out_height = axes.y.length;
  t.out_width = axes.x.length;
  t.kernel_height = t.kernel_width = kTaps / kStride;
  t.stride_y = t.stride_x = 1;
  t.pad_top = -axes.y.first;
  t.pad_left = -axes.x.first;
  return t;
}

WinogradGeometry geometry_of(const ConvolutionShape& seen, int threads = 1) {
  return {seen, kTile, threads, blocks_of(seen.channels), 28};
}

Panels panels_of(const ConvolutionShape& seen, const WinogradGeometry& g, const float* filters) {
  return {filters, g.points * g.blocks * kBlock, seen.outputs};
}

/// What the stages compute.
struct Loops {
  const IsaTable& table;
  const ConvolutionShape& s;
  const Axes axes;
  const WinogradGeometry& g;
  const Epilogue& e;
  Panels all;
  float* out;

  int pixels() const { return table.pixels; }
  const float* filters(i64 panel, i64 point) const {
    return all.panel(panel) + point * g.blocks * kBlock * all.columns(panel);
  }
  void transform(const float* in, i64 row, float* to, i64 step) const {
    table.winograd_input(WinogradTile::two_taps, in, row, kBlock, to, step, kBlock);
  }

  void multiply(const WinogradProduct<float>& p) const {
    Tile tile{};
    tile.in = p.in;
    tile.pixel = kBlock;
    tile.block = p.block;
    tile.taps = kOneTap;
    tile.blocks = g.blocks;
    tile.tap_count = 1;
    tile.steps = kBlock;
    tile.last_steps = s.channels % kBlock;
    tile.filled = all.filled(p.panel);
    tile.weights = filters(p.panel, p.point);
    tile.out = p.out;
    tile.out_pixel = kBlock;
    tile.out_block = p.half;
    tile.ahead = p.ahead;
    begin(tile, {}, 0, nullptr, 0, 0);
    table.packed(tile, p.tiles, static_cast<int>(all.columns(p.panel)));
  }

  void store(const WinogradSums& sums) const {
    each_tile(sums, [&](const WinogradSums& tile) {
      for (i64 c = 0; c < all.columns(tile.panel); c += kBlock)
        store_block(tile, tile.panel * (kColumns / kBlock) + c / kBlock, tile.from + c / kBlock * tile.half);
    });
  }

  /// A block of the outputs of all phases.
  void store_block(const WinogradSums& sums, i64 part, const float* from) const {
    const auto blocks = blocks_of(s.outputs), phase = part / blocks, block = part % blocks;
    const auto py = phase / kStride, px = phase % kStride;
    const auto y = sums.ty * kTile - axes.y.behind(py), x = sums.tx * kTile - axes.x.behind(px);
    const auto first_row = std::max<i64>(0, -y), first_column = std::max<i64>(0, -x);
    const auto rows = std::min(kTile, axes.y.phases[py].length - y),
               columns = std::min(kTile, axes.x.phases[px].length - x);
    if (rows <= first_row || columns <= first_column) return;
    const auto row = kStride * s.out_width * kBlock, column = kStride * kBlock;
    const auto place = (sums.image * blocks + block) * s.out_plane() * kBlock + (y + first_row) * row +
                       py * s.out_width * kBlock + (x + first_column) * column + px * kBlock;
    const auto* residual = e.residual ? e.residual + place : nullptr;
    Tile tile{};
    tile.out = out + place;
    tile.out_pixel = column;
    begin(tile, e, block * kBlock, residual, column, 0);
    table.winograd_output(WinogradTile::two_taps, from, sums.step,
                          {.bias = tile.bias,
                           .residual = tile.residual,
                           .low = tile.low,
                           .high = tile.high,
                           .out = tile.out,
                           .row = row,
                           .column = column,
                           .rows = static_cast<int>(rows),
                           .columns = static_cast<int>(columns),
                           .first_row = static_cast<int>(first_row),
                           .first_column = static_cast<int>(first_column)});
    if (e.is_simple()) return;
    for (auto r = first_row; r < rows; ++r, tile.out += row)
      finish(table, tile, static_cast<int>(columns - first_column), kBlock, e, block * kBlock,
             residual ? residual + (r - first_row) * row : nullptr, column, 0);
  }
};

}  // namespace

bool transposed_winograd_fits(const ConvolutionShape& s) {
  return s.groups == 1 && s.kernel_height == kTaps && s.kernel_width == kTaps && s.stride_y == kStride &&
         s.stride_x == kStride && !s.is_dilated();
}

bool transposed_winograd_pays(const ConvolutionShape& s) {
  return transposed_winograd_fits(s) && s.channels >= 2 * kBlock && s.outputs >= kBlock &&
         std::min(s.height, s.width) >= kLeastSide;
}

i64 transposed_winograd_filters_size(const ConvolutionShape& s) {
  const auto t = seen(s);
  const auto g = geometry_of(t);
  return panels_size(g.points * g.blocks * kBlock, t.outputs);
}

void transposed_winograd_pack(const ConvolutionShape& s, const float* filters, float* to, ThreadPool& pool) {
  const auto t = seen(s);
  const auto g = geometry_of(t);
  const Axes axes(s);
  const auto panels = panels_of(t, g, to);
  const auto blocks = blocks_of(s.outputs), parts = t.outputs / kBlock;
  parallel_ranges(pool, parts * g.blocks, static_cast<double>(kBlock * kBlock * g.points), [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto part = i / g.blocks, from = i % g.blocks * kBlock, phase = part / blocks,
                 first = part % blocks * kBlock;
      const auto tap_y = axes.y.phases[phase / kStride].last_tap, tap_x = axes.x.phases[phase % kStride].last_tap;
      const auto panel = part * kBlock / kColumns, columns = panels.columns(panel);
      auto* packed = to + (panels.panel(panel) - to) + part * kBlock % kColumns;
      for (auto c = from; c < from + kBlock; ++c) {
        alignas(64) std::array<float, kStride * kStride * kBlock> taps{};
        if (c < s.channels)
          for (i64 o = first; o < std::min(first + kBlock, s.outputs); ++o)
            for (i64 tap = 0; tap < kStride * kStride; ++tap)
              taps[tap * kBlock + o - first] =
                  filters[((c * s.outputs + o) * kTaps + tap_y - tap / kStride * kStride) * kTaps + tap_x -
                          tap % kStride * kStride];
        isa().winograd_filter(WinogradTile::two_taps, taps.data(), kBlock, packed + c * columns,
                              g.blocks * kBlock * columns);
      }
    }
  });
}

i64 transposed_winograd_scratch_size(const ConvolutionShape& s, int threads) {
  const auto t = seen(s);
  return winograd_stages_scratch_size(t, threads, [&](int count) { return geometry_of(t, count); });
}

void transposed_winograd(const ConvolutionShape& s, const float* filters, const float* in, float* out,
                         const Epilogue& epilogue, float* scratch, ThreadPool& pool) {
  if (s.out_plane() == 0) return;
  const auto t = seen(s);
  const auto g = geometry_of(t, pool.threads());
  const Loops loops{isa(), s, Axes(s), g, epilogue, panels_of(t, g, filters), out};
  WinogradStages<float, Loops>(t, g, loops).run(in, scratch, pool);
  clear_padding(s, epilogue.activation, out);
}

}  // namespace ovir::fast
