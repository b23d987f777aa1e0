#include "fast/kernels/product/packed.hpp"

#include <algorithm>

#include "fast/kernels/chunks.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kDeep = 1024;            // a panel of 128 KiB stays in the second-level cache beside the rows
constexpr i64 kLarge = 128 << 10;      // floats of all panels, which leave the cache
constexpr i64 kRowsBytes = 512 << 10;  // of the left operand, while all panels go by
constexpr i64 kMostReadings = 4;       // of weights, for as many blocks of rows
constexpr i64 kMaxPixels = 16;
constexpr i64 kSetFloats = 1 << 10;  // rows a multiple of 4 KB apart fall into one set, of 8 lines or 12
constexpr i64 kSetRows = 8;
constexpr i64 kColumnsWorthACopy = 512;

/// Steps of the sum that are done at once: balanced, whole blocks.
i64 depth(i64 k) {
  return k <= kDeep * 3 / 2 ? std::max<i64>(k, 1) : round_up(ceil_div(k, ceil_div(k, kDeep)), kBlock);
}

struct Job {
  const IsaTable& isa;
  const Panels& b;
  const float* a;
  i64 a_row;
  float* c;
  i64 c_row;
  const Epilogue& epilogue;

  /// Rows [begin, end) by steps [k0, k0 + steps) of a panel.
  void strip(i64 panel, i64 begin, i64 end, i64 k0, i64 steps, Ahead& ahead) const {
    const auto columns = b.columns(panel), column = panel * kColumns;
    // Sums of the steps before lie in c.
    const bool first = k0 == 0;
    const auto e = part_of(epilogue, first, k0 + steps == b.k);
    // A panel that reaches beyond the last column is computed aside.
    const i64 together = b.n - column < columns ? isa.pixels : pixels_together(e, end - begin);
    for (auto row = begin; row < end; row += together) {
      Tile tile{};
      tile.in = a + row * a_row + k0;
      tile.pixel = a_row;
      tile.taps = kOneTap;
      tile.blocks = tile.tap_count = 1;
      tile.steps = steps;
      tile.weights = b.panel(panel) + k0 * columns;
      tile.out_block = kBlock;
      tile.ahead = &ahead;
      one(tile, std::min(together, end - row), row, column, columns, e, first);
    }
  }

  void one(Tile& tile, i64 pixels, i64 row, i64 column, i64 columns, const Epilogue& e, bool first) const {
    float* to = c + row * c_row + column;
    const float* residual = e.residual ? e.residual + row * c_row + column : nullptr;
    const auto valid = std::min(columns, b.n - column);
    alignas(64) float aside[kMaxPixels * kColumns], before[kMaxPixels * kColumns];
    i64 out_row = c_row, residual_row = c_row;
    const auto keep = [&](const float* from) {
      for (i64 p = 0; p < pixels; ++p) std::copy_n(from + p * c_row, valid, before + p * kColumns);
    };
    tile.filled = valid;
    tile.out = to;
    if (valid < columns) {
      tile.out = aside;
      out_row = kColumns;
      std::fill(std::begin(before), std::end(before), 0.0f);
      if (residual) {
        keep(residual);
        residual = before;
        residual_row = kColumns;
      }
    }
    tile.out_pixel = out_row;
    if (first) {
      begin(tile, e, column, residual, residual_row, kBlock);
      isa.packed(tile, pixels, static_cast<int>(columns));
    } else {
      // The sums so far are added as a residual; one that comes last is left to finish().
      alignas(64) float sums[kMaxPixels * kColumns];
      const float* so_far = to;
      i64 so_far_row = c_row;
      if (valid < columns) {
        std::fill(std::begin(sums), std::end(sums), 0.0f);
        for (i64 p = 0; p < pixels; ++p) std::copy_n(to + p * c_row, valid, sums + p * kColumns);
        so_far = sums;
        so_far_row = kColumns;
      }
      begin_later(tile, e, column, so_far, so_far_row, kBlock);
      isa.packed(tile, pixels, static_cast<int>(columns));
    }
    finish(isa, tile, pixels, static_cast<int>(columns), e, column, residual, residual_row, kBlock);
    if (valid < columns)
      for (i64 p = 0; p < pixels; ++p) std::copy_n(aside + p * kColumns, valid, to + p * c_row);
  }
};

}  // namespace

i64 panels_size(i64 k, i64 n) { return k * round_up(n, kBlock); }

void pack_panels(const float* b, i64 row, i64 column, i64 k, i64 n, i64 begin, i64 end, float* to) {
  const auto& table = isa();
  const Panels panels{to, k, n};
  for (auto p = begin; p < end; ++p) {
    const auto columns = panels.columns(p), first = p * kColumns, valid = std::min(columns, n - first);
    float* out = to + p * k * kColumns;
    if (column == 1 && valid == kColumns) {  // of a length known here a copy is a few moves, not a call
      for (i64 i = 0; i < k; ++i) std::copy_n(b + i * row + first, kColumns, out + i * kColumns);
    } else if (column == 1) {
      for (i64 i = 0; i < k; ++i) {
        std::copy_n(b + i * row + first, valid, out + i * columns);
        std::fill(out + i * columns + valid, out + (i + 1) * columns, 0.0f);
      }
    } else {
      table.transpose(b + first * column, column, out, columns, valid, k);
      if (valid < columns)
        for (i64 i = 0; i < k; ++i) std::fill(out + i * columns + valid, out + (i + 1) * columns, 0.0f);
    }
  }
}

void pack_panels(const float* b, i64 row, i64 column, i64 k, i64 n, float* to, ThreadPool& pool) {
  parallel_panels(pool, k, n, [&](i64 first, i64 columns) {
    pack_panels(b + first * column, row, column, k, columns, 0, ceil_div(columns, kColumns), to + first * k);
  });
}

i64 spread_rows_size(i64 m, i64 n, i64 k) {
  return k % kSetFloats == 0 && m > kSetRows && n >= kColumnsWorthACopy ? m * (k + kBlock) : 0;
}

Rows spread_rows(const float* a, i64 m, i64 n, i64 k, float* scratch, ThreadPool& pool) {
  if (spread_rows_size(m, n, k) == 0) return {a, k};
  parallel_ranges(pool, m, static_cast<double>(k) / 4, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) std::copy_n(a + i * k, k, scratch + i * (k + kBlock));
  });
  return {scratch, k + kBlock};
}

void product(const Panels& b, const float* a, i64 a_row, float* c, i64 c_row, i64 m, const Epilogue& epilogue,
             ThreadPool& pool) {
  if (m == 0 || b.n == 0) return;
  const auto& table = isa();
  const Job job{table, b, a, a_row, c, c_row, epilogue};
  const auto panels = b.count();
  const auto weights = panels_size(b.k, b.n);
  const auto work = product_time(static_cast<double>(m) * static_cast<double>(b.n) * static_cast<double>(b.k),
                                 static_cast<double>(4 * weights));
  const auto wanted = static_cast<i64>(std::clamp(work / static_cast<double>(kChunkWork), 1.0, 64.0));
  // As few blocks of rows as keep a block in the cache, more where the panels are too few to share out.
  // Of a large matrix each panel is read by one thread.
  const bool whole = b.n > m && weights >= kLarge;
  // Of long rows, few of which fit, some steps go by all panels before the next ones do.
  const auto deep = depth(b.k);
  const bool by_steps = b.k > deep && m * b.k * 4 > kMostReadings * kRowsBytes;
  const auto kept = by_steps ? deep : std::max<i64>(b.k, 1);
  const auto fits = std::max<i64>(ceil_div(m * kept * 4, kRowsBytes), whole ? 1 : ceil_div(wanted, panels));
  const auto row_blocks = std::clamp<i64>(fits, 1, ceil_div(m, table.pixels));
  const RowsByPanels shares{row_blocks, std::clamp<i64>(wanted / row_blocks, 1, panels), whole};
  const bool prefetch = weights > (i64{1} << 15) && 2 * m > table.pixels;
  parallel(pool, shares.chunks(), [&](i64 chunk) {
    const Part rows(m, row_blocks, shares.part(chunk)), group(panels, shares.groups, shares.group(chunk));
    const auto tiles = ceil_div(rows.size(), table.pixels);
    for (i64 first = 0; first == 0 || first < b.k; first += kept)
      for (auto panel = group.begin; panel < group.end; ++panel) {
        Ahead ahead;
        const auto next = panel + 1;  // of the thread's next chunk, if not of this one
        if (prefetch && next < panels) {
          const auto columns = b.columns(next);
          ahead.next = reinterpret_cast<const char*>(b.panel(next) + first * columns);
          ahead.end = reinterpret_cast<const char*>(b.panel(next) + std::min(b.k, first + kept) * columns);
          ahead.lines = ceil_div(2 * kBlock, tiles);
        }
        for (auto k0 = first; k0 == first || k0 < std::min(b.k, first + kept); k0 += deep)
          job.strip(panel, rows.begin, rows.end, k0, std::min(deep, b.k - k0), ahead);
      }
  });
}

void product_alone(const Panels& b, const float* a, i64 a_row, float* c, i64 c_row, i64 m, const Epilogue& epilogue) {
  if (m == 0 || b.n == 0) return;
  const Job job{isa(), b, a, a_row, c, c_row, epilogue};
  const auto blocks = std::max<i64>(ceil_div(m * b.k * 4, kRowsBytes), 1), deep = depth(b.k);
  Ahead none;
  for (i64 block = 0; block < blocks; ++block) {
    const Part rows(m, blocks, block);
    for (i64 panel = 0; panel < b.count(); ++panel)
      for (i64 k0 = 0; k0 == 0 || k0 < b.k; k0 += deep)
        job.strip(panel, rows.begin, rows.end, k0, std::min(deep, b.k - k0), none);
  }
}

}  // namespace ovir::fast
