#include "fast/kernels/convolution/narrow_groups.hpp"

#include "fast/kernels/convolution/group_bands.hpp"

namespace ovir::fast {
namespace {

/// With whole blocks of words and whole panels.
JoinedGroups joined_groups(const NarrowGeometry& g) { return JoinedGroups(g.s, kBlock * g.lanes, kColumns); }

}  // namespace

bool narrow_takes_rows(const NarrowGeometry& g) {
  const auto& table = narrow_isa();
  return g.grouped && g.parts == 1 && (g.lanes == 2 ? table.bf16_rows != nullptr : table.u8_rows != nullptr) &&
         GroupBands::are_enough(g.s, joined_groups(g));
}

i64 narrow_rows_scratch_size(const NarrowGeometry& g, int threads) {
  return GroupBands(g.s, joined_groups(g)).scratch_size(threads);
}

void narrow_group_rows(const NarrowGeometry& g, const Word* filters, const Word* in, Word pad, Word* scratch,
                       ThreadPool& pool, const NarrowTileWork& tile) {
  const auto& s = g.s;
  if (s.batch == 0 || s.out_plane() == 0) return;
  const auto& grouped = *g.grouped;
  const auto joined = joined_groups(g);
  const GroupBands bands(s, joined);
  std::array<i64, NarrowGeometry::kMaxTaps> taps;
  bands.taps(taps.data());
  alignas(64) Word pads[kBlock];
  std::fill_n(pads, kBlock, pad);
  const auto cost = static_cast<double>(s.batch * s.out_plane() * g.filters_size()) / 64;
  bands.each(in, g.blocks, pads, reinterpret_cast<float*>(scratch), cost, pool,
             [&](const GroupSource<Word>& from, i64 image, i64 unit, const Part& band) {
               const auto first = unit * joined.outputs, first_block = unit * joined.blocks();
               std::array<i64, NarrowGeometry::kMaxTaps> read;
               TileRows rows{.column = 0, .rows = band.size(), .pixels = s.out_width, .apart = s.out_width};
               for (auto column = first; column < first + joined.outputs_of(s, unit); column += kBlock) {
                 const auto runs = grouped.runs_read(column, s.outputs);
                 g.set_taps(column, runs, {first_block, g.blocks}, from.block, taps.data(), read.data());
                 const auto panel = column / kColumns;
                 rows.column = column % kColumns;
                 const NarrowSum sum{.in = from.data,
                                     .pixel = kBlock,
                                     .block = 0,
                                     .taps = read.data(),
                                     .blocks = 1,
                                     .tap_count = runs * g.taps,
                                     .steps = g.steps,
                                     .last_steps = g.steps,
                                     .weights = filters + panel * g.panel_size(),
                                     .ahead = nullptr,
                                     .row = s.stride_y * from.row,
                                     .rows = &rows};
                 tile(sum, 0, panel, image, band.begin * s.out_width);
               }
             });
}

}  // namespace ovir::fast
