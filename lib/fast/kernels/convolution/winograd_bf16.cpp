#include "fast/kernels/convolution/winograd_bf16.hpp"

#include "fast/kernels/convolution/winograd.hpp"
#include "fast/kernels/convolution/winograd_stages.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kChannels = 2 * kBlock;  // of a block
constexpr int kTile = 2;               // output pixels a side

WinogradGeometry geometry_of(const ConvolutionShape& s, int threads = 1) {
  return {s, kTile, threads, bf16_blocks(s.channels), 14};
}

/// What the stages compute.
struct Loops {
  const NarrowTable& table;
  const ConvolutionShape& s;
  const WinogradGeometry& g;
  const Epilogue& e;
  const Word* all;
  const Bf16Blocked &out, &residual;

  int pixels() const { return table.pixels; }
  const Word* filters(i64 panel, i64 point) const { return all + (panel * g.points + point) * g.point_size(); }
  void transform(const Word* in, i64 row, Word* to, i64 step) const { table.bf16_winograd_input(in, row, to, step); }

  void multiply(const WinogradProduct<Word>& p) const {
    table.bf16_sums({.sum = narrow_sum(p, g, filters(p.panel, p.point)),
                     .out = reinterpret_cast<Word*>(p.out),
                     .out_pixel = kBlock,
                     .out_block = p.half},
                    static_cast<int>(p.tiles));
  }

  void store(const WinogradSums& sums) const {
    const auto y = sums.ty * kTile, column = sums.panel * kColumns, slice = sums.image % s.slices.out;
    const auto rows = std::min<i64>(kTile, s.out_slice_height() - y), valid = std::min(kColumns, s.outputs - column);
    const auto row_of = [&](const Bf16Blocked& of) {
      return bf16_place(s, of, sums.panel, sums.image / s.slices.out,
                        (slice * s.out_slice_height() + y) * s.out_width + sums.tx * kTile);
    };
    const auto from = row_of(residual), to = row_of(out);
    Bf16WinogradTiles tiles{.count = 0,
                            .from = sums.from,
                            .point = sums.step,
                            .half = sums.half,
                            .bias = e.bias ? e.bias + column : nullptr,
                            .low = -std::numeric_limits<float>::infinity(),
                            .high = std::numeric_limits<float>::infinity(),
                            .rows = static_cast<int>(rows)};
    // All 32 columns are stored.
    const bool all = !from.wide && (valid > kBlock || to.narrow) && bf16_stores_all(valid, true, e, from, to);
    if (all) bf16_bounds(e, tiles.low, tiles.high);
    for (i64 done = 0; done < sums.count; done += tiles.count) {
      const auto first = done * kTile, pixels = std::min(sums.count * kTile, s.out_width - sums.tx * kTile) - first;
      const auto residual_part = from.after(first), part = to.after(first);
      tiles.from = sums.from + done * kBlock;
      if (all) {
        // Those that are whole, then the last one of a row that is not.
        tiles.count = std::max<i64>(pixels / kTile, 1);
        tiles.columns = static_cast<int>(std::min<i64>(pixels, kTile));
        tiles.residual = residual_part.narrow;
        tiles.residual_row = s.out_width * from.pixel;
        tiles.wide = part.wide;
        tiles.out = part.narrow;
        tiles.pixel = part.pixel;
        tiles.row = s.out_width * part.pixel;
        tiles.block = part.block;
        table.bf16_winograd_output(tiles);
        continue;
      }
      constexpr i64 kAtOnce = kMostPixels / kTile;
      alignas(64) float values[kTile * kMostPixels * kColumns];
      tiles.count = std::min(kAtOnce, sums.count - done);
      tiles.wide = values;
      tiles.pixel = kColumns;
      tiles.row = kMostPixels * kColumns;
      tiles.block = kBlock;
      table.bf16_winograd_output(tiles);
      for (i64 r = 0; r < rows; ++r)
        bf16_finish(values + r * tiles.row, static_cast<int>(std::min(pixels, tiles.count * kTile)), column, valid,
                    true, e, residual_part.after(r * s.out_width), part.after(r * s.out_width));
    }
  }
};

}  // namespace

bool bf16_winograd_pays(const ConvolutionShape& s) {
  // Products of a pixel: Winograd's fill blocks of channels and panels, a direct sum's pairs and halves.
  constexpr double kLeastSaved = 1.35;
  const auto direct = 9 * round_up(s.channels, 2) * round_up(s.outputs, kBlock);
  const auto transformed = 4 * round_up(s.channels, kChannels) * round_up(s.outputs, kColumns);
  if (static_cast<double>(direct) < kLeastSaved * static_cast<double>(transformed)) return false;
  return !narrow_isa().tiled && winograd_fits(s.slice(), WinogradTile::two) && s.groups == 1 && !s.is_dilated() &&
         s.channels >= kChannels && s.outputs >= kColumns && std::min(s.out_slice_height(), s.out_width) >= 6;
}

i64 bf16_winograd_filters_size(const ConvolutionShape& s) {
  const auto g = geometry_of(s);
  return g.panels * g.points * g.point_size();
}

void bf16_winograd_pack(const ConvolutionShape& s, const float* filters, Word* to, ThreadPool& pool) {
  const auto g = geometry_of(s);
  const auto& table = isa();
  const auto& narrow = narrow_isa();
  const auto panel_size = g.points * g.point_size(), planes = s.slices.planes;
  parallel_panels(pool, panel_size / kColumns, s.outputs, [&](i64 first, i64 outputs) {
    std::fill_n(to + first / kColumns * panel_size, ceil_div(outputs, kColumns) * panel_size, Word{0});
    auto* values = reinterpret_cast<std::uint16_t*>(to);
    for (auto o = first; o < first + outputs; o += kBlock) {
      const auto valid = std::min(kBlock, s.outputs - o);
      for (i64 i = 0; i < s.channels * planes; ++i) {
        const auto c = i / planes, block = i % planes * g.plane_blocks + c / kChannels;
        alignas(64) float taps[9 * kBlock] = {}, points[16 * kBlock];
        for (i64 k = 0; k < valid; ++k)
          for (i64 t = 0; t < 9; ++t) taps[t * kBlock + k] = filters[((o + k) * s.channels * planes + i) * 9 + t];
        table.winograd_filter(WinogradTile::two, taps, kBlock, points, kBlock);
        std::uint16_t rounded[16 * kBlock];
        narrow.to_bf16(points, rounded, 16 * kBlock);
        // Even channels first, as the input is transformed.
        const auto lane = c % 2 * kBlock + c % kChannels / 2;
        for (i64 p = 0; p < g.points; ++p) {
          const auto word =
              (o / kColumns * g.points + p) * g.point_size() + (block * kBlock + lane / 2) * kColumns + o % kColumns;
          for (i64 k = 0; k < valid; ++k) values[(word + k) * 2 + lane % 2] = rounded[p * kBlock + k];
        }
      }
    }
  });
}

i64 bf16_winograd_scratch_size(const ConvolutionShape& s, int threads) {
  return winograd_stages_scratch_size(s, threads, [&](int count) { return geometry_of(s, count); });
}

void bf16_winograd_convolution(const ConvolutionShape& s, const Word* filters, const Word* in, const Bf16Blocked& out,
                               const Bf16Blocked& residual, const Epilogue& e, Word* scratch, ThreadPool& pool) {
  if (s.out_plane() == 0) return;
  const auto g = geometry_of(s, pool.threads());
  const Loops loops{narrow_isa(), s, g, e, filters, out, residual};
  WinogradStages<Word, Loops>(s, g, loops).run(in, reinterpret_cast<float*>(scratch), pool);
}

}  // namespace ovir::fast
