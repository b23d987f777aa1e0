#include "fast/kernels/convolution/winograd_u8.hpp"

#include <array>
#include <cmath>

#include "fast/kernels/convolution/winograd.hpp"
#include "fast/kernels/convolution/winograd_stages.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kChannels = 2 * kBlock;  // of a transformed block: words of two
constexpr int kTile = 4;               // output pixels a side
constexpr int kPoints = 6;             // of a line
constexpr i64 kFactor = 64;            // of the sums, where the factor 9 is divided away modulo 2^32

/// Two transformed blocks come from one of 64 channels.
WinogradGeometry geometry_of(const ConvolutionShape& s) { return {s, kTile, ceil_div(s.channels, kChannels), 28, 2}; }

/// The transformed weights of a channel without their denominators, 4, 6, 6, 24, 24 and 1 of a line: 36 points of at
/// most 49 · 128.
void transform(const std::int8_t* weights, std::int16_t* points) {
  constexpr int kLines[kPoints][3] = {{1, 0, 0}, {-1, -1, -1}, {-1, 1, -1}, {1, 2, 4}, {1, -2, 4}, {0, 0, 1}};
  int half[kPoints][3];
  for (int i = 0; i < kPoints; ++i)
    for (int j = 0; j < 3; ++j) {
      half[i][j] = 0;
      for (int k = 0; k < 3; ++k) half[i][j] += kLines[i][k] * weights[k * 3 + j];
    }
  for (int i = 0; i < kPoints; ++i)
    for (int j = 0; j < kPoints; ++j) {
      int sum = 0;
      for (int k = 0; k < 3; ++k) sum += half[i][k] * kLines[j][k];
      points[i * kPoints + j] = static_cast<std::int16_t>(sum);
    }
}

/// What the stages compute.
struct Loops {
  const NarrowTable& table;
  const ConvolutionShape& s;
  const WinogradGeometry& g;
  const U8Epilogue& e;
  const Word* all;
  const U8Blocked &out, &residual;

  int pixels() const { return table.pixels; }
  const Word* filters(i64 panel, i64 point) const { return all + (panel * g.points + point) * g.point_size(); }
  void transform(const Word* in, i64 row, Word* to, i64 step) const { table.u8_winograd_input(in, row, to, step); }

  void multiply(const WinogradProduct<Word>& p) const {
    auto sum = narrow_sum(p, g, filters(p.panel, p.point));
    sum.last_steps = ceil_div(s.channels - (g.blocks - 1) * kChannels, i64{2});
    table.i16_sums({.sum = sum,
                    .out = reinterpret_cast<Word*>(p.out),
                    .out_pixel = kBlock,
                    .out_block = p.half,
                    .columns = u8_columns(s, p.panel)},
                   static_cast<int>(p.tiles));
  }

  void store(const WinogradSums& sums) const {
    each_tile(sums, [&](const WinogradSums& tile) { store_one(tile); });
  }
  void store_one(const WinogradSums& sums) const {
    const auto y = sums.ty * kTile, x = sums.tx * kTile, pixel = y * s.out_width + x;
    const auto rows = std::min<i64>(kTile, s.out_height - y), columns = std::min<i64>(kTile, s.out_width - x);
    U8WinogradTile tile{.from = reinterpret_cast<const Word*>(sums.from),
                        .point = sums.step,
                        .half = sums.half,
                        .tile = u8_tile_of(s, out, residual, e, sums.panel, sums.image, pixel),
                        .width = s.out_width,
                        .rows = static_cast<int>(rows),
                        .columns = static_cast<int>(columns)};
    if (!e.activated || tile.tile.activation) return table.u8_winograd_output(tile);
    alignas(64) std::array<float, kTile * kTile * kColumns> values;
    tile.tile.residual = nullptr;
    tile.tile.wide_residual = nullptr;
    tile.tile.wide = values.data();
    tile.tile.out_pixel = kBlock;
    tile.tile.out_block = rows * columns * kBlock;
    tile.width = columns;
    table.u8_winograd_output(tile);
    u8_activated_rows(s, out, residual, e, values.data(), PixelRows{rows, columns, s.out_width}, sums.panel, sums.image,
                      pixel);
  }
};

}  // namespace

bool u8_winograd_pays(const ConvolutionShape& s, const std::int8_t* weights) {
  const auto has_u8 = narrow_isa().has_u8;
  const auto fewest = has_u8 ? 4 * kBlock : narrow_isa().adds_pairs ? 2 * kBlock : kBlock;
  if (narrow_isa().tiled || !winograd_fits(s, WinogradTile::two) || s.groups > 1 || s.is_dilated() ||
      s.channels < fewest || s.outputs < fewest)
    return false;
  // Products of pairs by products of fours, each of which is two of pairs where there is no instruction for it; what
  // the transformations take is the rest.
  const auto g = geometry_of(s);
  if (static_cast<double>(g.across * g.down * g.points * (has_u8 ? 2 : 1)) >
      0.72 * static_cast<double>(s.out_plane() * 9))
    return false;
  // Weights for few tiles, and larger ones, come from memory too slowly.
  constexpr i64 kFewTiles = 16;
  if (has_u8 && g.across * g.down < kFewTiles) return false;
  if (u8_winograd_weights_size(s) > (has_u8 ? i64{384} << 10 : i64{3} << 20)) return false;
  const auto each = s.channels * 9;
  for (i64 o = 0; o < s.outputs; ++o) {
    i64 sum = 0;
    for (i64 i = 0; i < each; ++i) sum += std::abs(weights[o * each + i]);
    if (sum * 255 * kFactor > std::numeric_limits<std::int32_t>::max()) return false;
  }
  return true;
}

i64 u8_winograd_weights_size(const ConvolutionShape& s) {
  const auto g = geometry_of(s);
  return g.panels * g.points * g.point_size();
}

void u8_winograd_pack(const ConvolutionShape& s, const std::int8_t* weights, Word* to, ThreadPool& pool) {
  const auto g = geometry_of(s);
  const auto panel_size = g.points * g.point_size();
  parallel_panels(pool, panel_size / kColumns, s.outputs, [&](i64 first, i64 outputs) {
    std::fill_n(to + first / kColumns * panel_size, ceil_div(outputs, kColumns) * panel_size, Word{0});
    auto* values = reinterpret_cast<std::int16_t*>(to);
    for (auto o = first; o < first + outputs; ++o)
      for (i64 c = 0; c < s.channels; ++c) {
        std::int16_t points[kPoints * kPoints];
        transform(weights + (o * s.channels + c) * 9, points);
        for (i64 p = 0; p < g.points; ++p) {
          const auto word = (o / kColumns * g.points + p) * g.point_size() + c / 2 * kColumns + o % kColumns;
          values[word * 2 + c % 2] = points[p];
        }
      }
  });
}

i64 u8_winograd_scratch_size(const ConvolutionShape& s, int threads) { return geometry_of(s).scratch_size(threads); }

void u8_winograd_convolution(const ConvolutionShape& s, const Word* weights, const Word* in, std::uint8_t pad,
                             const U8Blocked& out, const U8Blocked& residual, const U8Epilogue& e, Word* scratch,
                             ThreadPool& pool) {
  if (s.out_plane() == 0) return;
  const auto g = geometry_of(s);
  const Loops loops{narrow_isa(), s, g, e, weights, out, residual};
  WinogradStages<Word, Loops>(s, g, loops, u8_pad(pad)).run(in, reinterpret_cast<float*>(scratch), pool);
}

}  // namespace ovir::fast
