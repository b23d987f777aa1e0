// Products of rows of words by packed panels (isa/narrow.hpp): who computes which tiles, for bf16 and u8 alike.
#pragma once
#include <algorithm>

#include "fast/kernels/panels.hpp"

namespace ovir::fast {

/// What sums rows of so many words, `row` apart, by a panel of 32 columns.
inline NarrowSum sum_of_rows(const Word* rows, i64 row, i64 words, const Word* panel, Ahead* ahead = nullptr) {
  return {.in = rows,
          .pixel = row,
          .block = 0,
          .taps = kOneTap,
          .blocks = 1,
          .tap_count = 1,
          .steps = words,
          .last_steps = words,
          .weights = panel,
          .ahead = ahead};
}

/// Rows, and a right operand in panels of 32 columns, [panel][words][32]; a row and a column have as many words.
struct NarrowProduct {
  const Word* rows;
  const Word* panels;
  i64 m, n, words;
  i64 at_once = 1;  ///< tiles whose place and ending are said once

  i64 count() const { return ceil_div(n, kColumns); }
  i64 panel_size() const { return words * kColumns; }
  const Word* panel(i64 i) const { return panels + i * panel_size(); }
  /// What sums rows from `first` on by a panel.
  NarrowSum sum(i64 first, i64 i, Ahead* ahead) const { return sum(first, panel(i), ahead); }
  NarrowSum sum(i64 first, const Word* panel, Ahead* ahead) const {
    return sum_of_rows(rows + first * words, words, words, panel, ahead);
  }
};

/// tile(sum, rows, first row, first column) for all of them, on all threads. `words_per_ns`: roughly so many words of
/// rows are multiplied; `large`: words of panels from which on the next one is asked for beforehand.
template <class Tile>
void for_tiles(const NarrowProduct& p, double words_per_ns, i64 large, ThreadPool& pool, const Tile& tile) {
  constexpr i64 kRowsBytes = 384 << 10;  // of the left operand, while all panels go by
  constexpr i64 kLarge = 128 << 10;      // words of all panels, which leave the cache
  if (p.m == 0 || p.n == 0) return;
  const auto max_pixels = i64{narrow_isa().pixels}, panels = p.count(), panel_size = p.panel_size();
  // Of few rows panels are rather read than multiplied.
  constexpr double kReadWord = 0.15;  // ns
  const auto work = static_cast<double>(p.n * p.words) * std::max(static_cast<double>(p.m) / words_per_ns, kReadWord);
  const auto wanted = static_cast<i64>(std::clamp(work / static_cast<double>(kChunkWork), 1.0, 64.0));
  // As few blocks of rows as keep a block in the cache, more where the panels are too few to share out. Of a large
  // matrix each panel is read by one thread.
  const bool whole = p.n > p.m && panels * panel_size >= kLarge;
  const auto fits = std::max<i64>(ceil_div(p.m * p.words * 4, kRowsBytes), whole ? 1 : ceil_div(wanted, panels));
  const auto row_blocks = std::clamp<i64>(fits, 1, ceil_div(p.m, max_pixels));
  const RowsByPanels shares{row_blocks, std::clamp<i64>(wanted / row_blocks, 1, panels), whole};
  const bool prefetch = panels * panel_size > large && p.m > 1;
  parallel(pool, shares.chunks(), [&](i64 chunk) {
    const Part rows(p.m, row_blocks, shares.part(chunk)), group(panels, shares.groups, shares.group(chunk));
    for (auto panel = group.begin; panel < group.end; ++panel) {
      Ahead ahead;
      if (prefetch && panel + 1 < panels)  // of the thread's next chunk, if not of this one
        ahead = {.next = reinterpret_cast<const char*>(p.panel(panel + 1)),
                 .end = reinterpret_cast<const char*>(p.panel(panel + 1) + panel_size),
                 .lines = ceil_div(2 * kBlock, ceil_div(rows.size(), max_pixels))};
      each_tiles(rows, p.at_once, [&](i64 row, i64 count) {
        tile(p.sum(row, panel, &ahead), static_cast<int>(count), row, panel * kColumns);
      });
    }
  });
}

/// The same of panels that are made right before (WordPanels::make): p.panels does not count.
template <class Tile>
void for_tiles(const NarrowProduct& p, const WordPanels& panels, ThreadPool& pool, const Tile& tile) {
  Slots rooms(reinterpret_cast<float*>(panels.rooms), panels.room_words, slots_for(pool));
  parallel(pool, p.count(), [&](i64 panel) {
    const Slots::Lease room(rooms);
    auto* words = reinterpret_cast<Word*>(room.data());
    panels.make(panel, words);
    each_tiles({0, p.m}, p.at_once, [&](i64 row, i64 count) {
      tile(p.sum(row, words, nullptr), static_cast<int>(count), row, panel * kColumns);
    });
  });
}

/// The same in the caller's thread.
template <class Tile>
void for_tiles(const NarrowProduct& p, const Tile& tile) {
  for (i64 panel = 0; panel < p.count(); ++panel)
    each_tiles({0, p.m}, p.at_once, [&](i64 row, i64 count) {
      tile(p.sum(row, panel, nullptr), static_cast<int>(count), row, panel * kColumns);
    });
}

}  // namespace ovir::fast
