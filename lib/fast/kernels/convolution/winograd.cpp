#include "fast/kernels/convolution/winograd.hpp"

#include <array>

#include "fast/kernels/convolution/winograd_stages.hpp"
#include "fast/kernels/product/packed.hpp"

namespace ovir::fast {
namespace {

WinogradGeometry geometry_of(const ConvolutionShape& s, int m) { return {s, m, blocks_of(s.channels), 28}; }

/// What the stages compute.
struct Loops {
  const IsaTable& table;
  const ConvolutionShape& s;
  const WinogradGeometry& g;
  const Epilogue& e;
  Panels all;
  float* out;

  int pixels() const { return table.pixels; }
  const float* filters(i64 panel, i64 point) const {
    return all.panel(panel) + point * g.blocks * kBlock * all.columns(panel);
  }
  void transform(const float* in, i64 row, float* to, i64 step) const { table.winograd_input(g.m, in, row, to, step); }

  void multiply(const WinogradProduct<float>& p) const {
    Tile tile{};
    tile.in = p.in;
    tile.pixel = kBlock;
    tile.block = p.block;
    tile.taps = kOneTap;
    tile.blocks = g.blocks;
    tile.tap_count = 1;
    tile.steps = kBlock;
    tile.weights = filters(p.panel, p.point);
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
    const auto y = sums.ty * g.m, x = sums.tx * g.m, row = s.out_width * kBlock;
    const auto rows = std::min<i64>(g.m, s.out_height - y), columns = std::min<i64>(g.m, s.out_width - x);
    const auto place =
        (sums.image * blocks_of(s.outputs) + channel / kBlock) * s.out_plane() * kBlock + y * row + x * kBlock;
    const auto* residual = e.residual ? e.residual + place : nullptr;
    Tile tile{};
    tile.out = out + place;
    tile.out_pixel = kBlock;
    begin(tile, e, channel, residual, kBlock, 0);
    table.winograd_output(g.m, from, sums.step,
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
  const auto g = geometry_of(s, m);
  return panels_size(g.points * g.blocks * kBlock, s.outputs);
}

void winograd_pack(const ConvolutionShape& s, int m, const Weights& filters, float* to, ThreadPool& pool) {
  const auto g = geometry_of(s, m);
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
  return geometry_of(s, m).scratch_size(threads);
}

void winograd_convolution(const ConvolutionShape& s, int m, const float* filters, const float* in, float* out,
                          const Epilogue& epilogue, float* scratch, ThreadPool& pool) {
  if (s.out_plane() == 0) return;
  const auto g = geometry_of(s, m);
  const Loops loops{isa(), s, g, epilogue, {filters, g.points * g.blocks * kBlock, s.outputs}, out};
  WinogradStages<float, Loops>(s, g, loops).run(in, scratch, pool);
  clear_padding(s, epilogue.activation, out);
}

}  // namespace ovir::fast
