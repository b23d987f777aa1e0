#include "fast/kernels/convolution/winograd.hpp"

#include <array>

#include "fast/kernels/convolution/winograd_stages.hpp"
#include "fast/kernels/product/packed.hpp"

namespace ovir::fast {
namespace {

/// A line in a plane of height 1 is turned: chunks have rows of tiles of their own.
ConvolutionShape upright(const ConvolutionShape& s) {
  if (s.height > 1 || s.out_height > 1 || s.kernel_height > 1) return s;
  auto t = s;
  std::swap(t.height, t.width);
  std::swap(t.out_height, t.out_width);
  std::swap(t.kernel_height, t.kernel_width);
  std::swap(t.dilation_y, t.dilation_x);
  std::swap(t.pad_top, t.pad_left);
  return t;
}

/// Groups, which have whole blocks, as images of a batch: their blocks lie one after the other.
ConvolutionShape by_groups(const ConvolutionShape& s) {
  auto t = s;
  t.batch = s.batch * s.groups;
  t.channels = s.group_channels();
  t.outputs = s.group_outputs();
  t.groups = 1;
  return t;
}

/// As the stages see it.
ConvolutionShape seen(const ConvolutionShape& s) { return upright(by_groups(s)); }

WinogradGeometry geometry_of(const ConvolutionShape& s, int m) { return {s, m, blocks_of(s.channels), 28}; }

/// What the stages compute.
struct Loops {
  const IsaTable& table;
  const ConvolutionShape& s;
  const WinogradGeometry& g;
  const Epilogue& e;
  Panels all;  ///< of the first group
  float* out;
  i64 groups = 1;
  i64 packed_first = 0;  ///< the panel where `all` begins

  int pixels() const { return table.pixels; }
  const float* filters(i64 image, i64 panel, i64 point) const {
    return all.panel(panel - packed_first) + image % groups * panels_size(all.k, all.n) +
           point * g.blocks * kBlock * all.columns(panel);
  }
  void transform(const float* in, i64 row, i64 column, float* to, i64 step) const {
    table.winograd_input(g.m, in, row, is_upright() ? row : column, to, step);
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
    tile.weights = filters(p.image, p.panel, p.point);
    tile.out = p.out;
    tile.out_pixel = kBlock;
    tile.out_block = p.half;
    tile.ahead = p.ahead;
    begin(tile, {}, 0, nullptr, 0, 0);
    table.packed(tile, static_cast<int>(p.tiles), static_cast<int>(all.columns(p.panel)));
  }

  void store(const WinogradSums& sums) const {
    for (i64 c = 0; c < all.columns(sums.panel); c += kBlock)
      store_block(sums, sums.panel * kColumns + c, sums.from + c / kBlock * sums.half);
  }

  void store_block(const WinogradSums& sums, i64 channel, const float* from) const {
    const auto y = g.y.first(sums.ty), x = g.x.first(sums.tx);
    const auto place =
        ((sums.image * blocks_of(s.outputs) + channel / kBlock) * s.out_plane() + y * s.out_width + x) * kBlock;
    auto row = s.out_width * kBlock * g.y.apart, column = kBlock * g.x.apart;
    auto rows = g.y.pixels(y, s.out_height), columns = g.x.pixels(x, s.out_width);
    if (is_upright()) {
      std::swap(row, column);
      std::swap(rows, columns);
    }
    const auto* residual = e.residual ? e.residual + place : nullptr;
    Tile tile{};
    tile.out = out + place;
    tile.out_pixel = column;
    channel += sums.image % groups * s.outputs;
    begin(tile, e, channel, residual, column, 0);
    table.winograd_output(g.m, from, sums.step,
                          {.bias = tile.bias,
                           .residual = tile.residual,
                           .low = tile.low,
                           .high = tile.high,
                           .out = tile.out,
                           .row = row,
                           .column = column,
                           .rows = static_cast<int>(rows),
                           .columns = static_cast<int>(columns)});
    if (e.is_simple()) return;
    for (i64 r = 0; r < rows; ++r, tile.out += row)
      finish(table, tile, static_cast<int>(columns), kBlock, e, channel, residual ? residual + r * row : nullptr,
             column, 0);
  }

 private:
  /// A line of pixels one below the other.
  bool is_upright() const { return g.x.size == 1; }
};

/// Block `block` of up to sixteen filters of those `left` at `from`, transformed, into a packed panel of `columns`.
/// They are transposed first, so that a vector has sixteen outputs.
void pack_half(const ConvolutionShape& s, const WinogradGeometry& g, const float* from, i64 left, i64 block,
               i64 columns, float* to) {
  alignas(64) std::array<float, kBlock * 9 * kBlock> rows;
  const auto valid = std::min(kBlock, left), channels = std::min(kBlock, s.channels - block * kBlock), taps = s.taps();
  if (valid < kBlock || channels < kBlock) rows.fill(0.0f);
  isa().transpose(from + block * kBlock * taps, s.channels * taps, rows.data(), kBlock, valid, channels * taps);
  for (i64 c = 0; c < kBlock; ++c)
    isa().winograd_filter(g.m, rows.data() + c * taps * kBlock, kBlock, to + (block * kBlock + c) * columns,
                          g.blocks * kBlock * columns);
}

constexpr i64 kLeastSideOfGroups = 12;  // their filters are few beside what is transformed
constexpr double kLeastUsed = 0.7;      // of the tiles' pixels
constexpr i64 kOnceTiles = 128;         // by which a panel is multiplied that is packed right before

/// Of a thread that packs a panel right before it is used: sixteen filters as they were read, the panel, and sums.
struct OnceRoom {
  i64 read, packed, sums;
  OnceRoom(const ConvolutionShape& s, const WinogradGeometry& g)
      : read(kBlock * s.channels * s.taps()),
        packed(panels_size(g.points * g.blocks * kBlock, kColumns)),
        sums(g.output_size(std::min(g.tiles(), g.kTilesTogether))) {}
  i64 size() const { return read + packed + sums; }
};

/// Whether enough of the tiles' pixels are in the plane: where it is small, or taps lie far apart, many are not.
bool pays(const ConvolutionShape& s, int m) {
  const auto g = geometry_of(by_groups(s), m);
  return static_cast<double>(g.across * g.down * g.y.size * g.x.size) * kLeastUsed <=
         static_cast<double>(s.out_plane());
}

}  // namespace

bool winograd_fits(const ConvolutionShape& s) {
  return s.kernel_height == 3 && s.kernel_width == 3 && s.stride_y == 1 && s.stride_x == 1 &&
         (s.groups == 1 || (s.group_channels() % kBlock == 0 && s.group_outputs() % kBlock == 0));
}

bool winograd_line_fits(const ConvolutionShape& s) {
  return s.taps() == 3 && std::max(s.kernel_height, s.kernel_width) == 3 && s.stride_y == 1 && s.stride_x == 1 &&
         s.groups == 1;
}

int winograd_tile(const ConvolutionShape& s) {
  const bool line = winograd_line_fits(s);
  if ((!line && !winograd_fits(s)) || s.channels < 2 * kBlock || s.outputs < 2 * kBlock) return 0;
  if (line) return pays(s, kWinogradLine) ? kWinogradLine : 0;
  const auto side = std::min(s.out_height, s.out_width);
  if (s.groups > 1 && side < kLeastSideOfGroups) return 0;
  // Sums of fewer channels are so small that F(4×4) would round too much beside them.
  if (side >= 24 && s.group_channels() >= 2 * kBlock && pays(s, 4)) return 4;
  return side >= 6 && pays(s, 2) ? 2 : 0;
}

i64 winograd_filters_size(const ConvolutionShape& shape, int m) {
  const auto s = by_groups(shape);
  const auto g = geometry_of(s, m);
  return shape.groups * panels_size(g.points * g.blocks * kBlock, s.outputs);
}

void winograd_pack(const ConvolutionShape& s, int m, const Weights& filters, float* to, ThreadPool& pool) {
  if (s.groups > 1) {
    auto one = by_groups(s);
    one.batch = s.batch;
    for (i64 i = 0; i < s.groups; ++i)
      winograd_pack(one, m, filters.data + i * one.outputs * one.channels * one.taps(),
                    to + i * winograd_filters_size(one, m), pool);
    return;
  }
  const auto g = geometry_of(s, m);
  const Panels panels{to, g.points * g.blocks * kBlock, s.outputs};
  const auto cost = static_cast<double>(kColumns * kBlock * (s.taps() + 2 * g.points)) / 8;
  const auto each = s.channels * s.taps();
  pack_blocks(filters, s.outputs * each, kColumns * each, g.blocks, cost, pool,
              [&](i64 panel, i64 block, const float* from) {
                const auto columns = panels.columns(panel);
                auto* const out = to + (panels.panel(panel) - to);
                for (i64 half = 0; half < columns; half += kBlock)
                  pack_half(s, g, from + half * each, s.outputs - panel * kColumns - half, block, columns, out + half);
              });
}

i64 winograd_scratch_size(const ConvolutionShape& s, int m, int threads) {
  return geometry_of(seen(s), m).scratch_size(threads);
}

void winograd_convolution(const ConvolutionShape& shape, int m, const float* filters, const float* in, float* out,
                          const Epilogue& epilogue, float* scratch, ThreadPool& pool) {
  if (shape.out_plane() == 0) return;
  const auto s = seen(shape);
  const auto g = geometry_of(s, m);
  const Loops loops{isa(), s, g, epilogue, {filters, g.points * g.blocks * kBlock, s.outputs}, out, shape.groups};
  WinogradStages<float, Loops>(s, g, loops).run(in, scratch, pool);
  clear_padding(shape, epilogue.activation, out);
}

bool winograd_packs_by_panels(const ConvolutionShape& shape, int m) {
  const auto s = upright(shape);
  const auto g = geometry_of(s, m);
  return !g.own && s.batch == 1 && s.groups == 1 && g.tiles() == g.down * g.across && g.tiles() <= kOnceTiles &&
         g.panels >= kOncePanels;
}

i64 winograd_once_scratch_size(const ConvolutionShape& shape, int m, int threads) {
  const auto s = upright(shape);
  const auto g = geometry_of(s, m);
  return g.input_size(g.tiles()) + threads * OnceRoom(s, g).size();
}

void winograd_convolution_once(const ConvolutionShape& shape, int m, const Weights& filters, const float* in,
                               float* out, const Epilogue& epilogue, float* scratch, ThreadPool& pool) {
  if (shape.out_plane() == 0) return;
  const auto s = upright(shape);
  const auto g = geometry_of(s, m);
  const OnceRoom size(s, g);
  const auto k = g.points * g.blocks * kBlock, each = s.channels * s.taps(), tiles = g.tiles();
  const auto parts = ceil_div(tiles, g.kTilesTogether);
  const Loops none{isa(), s, g, epilogue, {nullptr, k, s.outputs}, out};
  const WinogradArea all{{0, g.down}, {0, g.across}};
  WinogradStages<float, Loops>(s, g, none).transform(in, 0, all, scratch, pool);
  Slots rooms(scratch + g.input_size(tiles), size.size(), slots_for(pool));
  parallel(pool, g.panels, [&](i64 panel) {
    const Slots::Lease room(rooms);
    auto* const packed = room.data() + size.read;
    auto loops = none;
    loops.all.data = packed;
    loops.packed_first = panel;
    const auto columns = loops.all.columns(panel);
    for (i64 half = 0; half < columns; half += kBlock) {
      const auto first = panel * kColumns + half, left = s.outputs - first;
      const auto* const read = filters.get(first * each, std::min(kBlock, left) * each, room.data());
      for (i64 block = 0; block < g.blocks; ++block) pack_half(s, g, read, left, block, columns, packed + half);
    }
    const WinogradStages<float, Loops> stages(s, g, loops);
    for (i64 i = 0; i < parts; ++i) {
      stages.panel(0, panel, all, Part(tiles, parts, i), scratch, packed + size.packed);
    }
  });
  clear_padding(s, epilogue.activation, out);
}

}  // namespace ovir::fast
