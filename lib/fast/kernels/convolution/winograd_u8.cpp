#include "fast/kernels/convolution/winograd_u8.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "fast/kernels/convolution/winograd.hpp"
#include "fast/kernels/convolution/winograd_stages.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kChannels = 2 * kBlock;  // of a transformed block: words of two
constexpr int kTile = 4;               // output pixels a side
constexpr int kPoints = 6;             // of a line
constexpr i64 kFactor = 64;            // of the sums, where the factor 9 is divided away modulo 2^32

/// Two transformed blocks come from one of 64 channels.
WinogradGeometry geometry_of(const ConvolutionShape& s, int threads = 1) {
  return {s, kTile, threads, ceil_div(s.channels, kChannels), 28, 2};
}

/// Of two channels and the outputs of a panel, as they lie in words.
using Lanes = std::array<std::int16_t, 2 * kColumns>;

/// The points of a line of taps without their denominators, 4, 6, 6, 24, 24 and 1.
void transform_line(const Lanes& a, const Lanes& b, const Lanes& c, const std::array<std::int16_t*, kPoints>& to) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto near = a[i] + c[i], far = a[i] + 4 * c[i];
    to[0][i] = a[i];
    to[1][i] = static_cast<std::int16_t>(-near - b[i]);
    to[2][i] = static_cast<std::int16_t>(-near + b[i]);
    to[3][i] = static_cast<std::int16_t>(far + 2 * b[i]);
    to[4][i] = static_cast<std::int16_t>(far - 2 * b[i]);
    to[5][i] = c[i];
  }
}

/// 36 points, `step` words apart, each of at most 49 · 128.
void transform(const std::array<Lanes, 9>& taps, Word* to, i64 step) {
  std::array<std::array<Lanes, 3>, kPoints> half;
  for (std::size_t j = 0; j < 3; ++j) {
    std::array<std::int16_t*, kPoints> lines;
    for (std::size_t i = 0; i < lines.size(); ++i) lines[i] = half[i][j].data();
    transform_line(taps[j], taps[3 + j], taps[6 + j], lines);
  }
  for (const auto& [a, b, c] : half) {
    std::array<std::int16_t*, kPoints> points;
    for (auto& point : points) point = reinterpret_cast<std::int16_t*>(std::exchange(to, to + step));
    transform_line(a, b, c, points);
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
    sum.last_steps = ceil_div(s.channels - (g.plane_blocks - 1) * kChannels, i64{2});
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
    const auto image = sums.image / s.slices.out, slice = sums.image % s.slices.out, height = s.out_slice_height();
    const auto y = sums.ty * kTile, x = sums.tx * kTile, pixel = (slice * height + y) * s.out_width + x;
    const auto rows = std::min<i64>(kTile, height - y), columns = std::min<i64>(kTile, s.out_width - x);
    U8WinogradTile tile{.from = reinterpret_cast<const Word*>(sums.from),
                        .point = sums.step,
                        .half = sums.half,
                        .tile = u8_tile_of(s, out, residual, e, {}, sums.panel, image, pixel),
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
    u8_activated_rows(s, out, residual, e, values.data(), PixelRows{rows, columns, s.out_width}, sums.panel, image,
                      pixel);
  }
};

}  // namespace

bool u8_winograd_pays(const ConvolutionShape& s) {
  const auto has_u8 = narrow_isa().has_u8;
  const auto fewest = has_u8 ? 4 * kBlock : narrow_isa().adds_pairs ? 2 * kBlock : kBlock;
  if (narrow_isa().tiled || !winograd_fits(s.slice(), WinogradTile::two) || s.groups > 1 || s.is_dilated() ||
      s.channels < fewest || s.outputs < fewest)
    return false;
  // Products of pairs by products of fours, each of which is two of pairs where there is no instruction for it; what
  // the transformations take is the rest. To read the weights takes as long as so many more tiles; without the
  // instruction larger ones take too long.
  constexpr i64 kWeightsAsTiles = 8;
  const auto g = geometry_of(s);
  const auto tiles = g.across * g.down, products = s.out_slice_height() * s.out_width * 9;
  if (has_u8)
    return static_cast<double>((tiles + kWeightsAsTiles) * g.points * 2) <= 0.93 * static_cast<double>(products);
  return static_cast<double>(tiles * g.points) <= 0.72 * static_cast<double>(products) &&
         u8_winograd_weights_size(s) <= i64{3} << 20;
}

bool u8_winograd_is_exact(std::span<const IntegerSums> sums) {
  return std::ranges::all_of(sums, [](const IntegerSums& s) {
    const auto of_one_sign = (s.sizes + std::abs(s.total)) / 2;
    return of_one_sign * 255 * kFactor <= std::numeric_limits<std::int32_t>::max();
  });
}

i64 u8_winograd_weights_size(const ConvolutionShape& s) {
  const auto g = geometry_of(s);
  return g.panels * g.points * g.point_size();
}

void u8_winograd_pack(const ConvolutionShape& s, const std::int8_t* weights, Word* to, ThreadPool& pool) {
  const auto g = geometry_of(s);
  const auto panel_size = g.points * g.point_size(), planes = s.slices.planes;
  parallel_panels(pool, panel_size / kColumns, s.outputs, [&](i64 first, i64 outputs) {
    for (auto o = first; o < first + outputs; o += kColumns) {
      const auto valid = std::min(kColumns, s.outputs - o);
      for (i64 pair = 0; pair < g.blocks * kBlock; ++pair) {
        const auto plane = pair / (g.plane_blocks * kBlock), c = pair % (g.plane_blocks * kBlock) * 2;
        const auto channels = std::clamp<i64>(s.channels - c, 0, 2);
        std::array<Lanes, 9> taps{};
        for (i64 k = 0; k < valid; ++k)
          for (i64 i = 0; i < channels; ++i)
            for (std::size_t t = 0; t < taps.size(); ++t)
              taps[t][static_cast<std::size_t>(2 * k + i)] =
                  weights[(((o + k) * s.channels + c + i) * planes + plane) * 9 + static_cast<i64>(t)];
        transform(taps, to + o / kColumns * panel_size + pair * kColumns, g.point_size());
      }
    }
  });
}

i64 u8_winograd_scratch_size(const ConvolutionShape& s, int threads) {
  return winograd_stages_scratch_size(s, threads, [&](int count) { return geometry_of(s, count); });
}

void u8_winograd_convolution(const ConvolutionShape& s, const Word* weights, const Word* in, std::uint8_t pad,
                             const U8Blocked& out, const U8Blocked& residual, const U8Epilogue& e, Word* scratch,
                             ThreadPool& pool) {
  if (s.out_plane() == 0) return;
  const auto g = geometry_of(s, pool.threads());
  const Loops loops{narrow_isa(), s, g, e, weights, out, residual};
  WinogradStages<Word, Loops>(s, g, loops, u8_pad(pad)).run(in, reinterpret_cast<float*>(scratch), pool);
}

}  // namespace ovir::fast
