#include "fast/kernels/product/bf16.hpp"

#include <algorithm>
#include <array>

#include "fast/kernels/chunks.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kRowsBytes = 384 << 10;  // of the left operand, while all panels go by

Bf16Place at(const Bf16Place& whole, i64 row, i64 column, i64 n) {
  const auto offset = row * n + column;
  return {.wide = whole.wide ? whole.wide + offset : nullptr,
          .narrow = whole.narrow ? whole.narrow + offset : nullptr,
          .pixel = n};
}

}  // namespace

i64 bf16_panels_size(i64 k, i64 n) { return bf16_words(k) * round_up(n, kColumns); }

void pack_bf16_panels(const float* b, i64 row, i64 column, i64 k, i64 n, Word* to) {
  constexpr i64 kLines = 32;  // words of a column at a time
  const auto& table = narrow_isa();
  const auto words = bf16_words(k);
  for (i64 j = 0; j < n; j += kColumns, to += words * kColumns) {
    const auto valid = std::min(kColumns, n - j);
    if (column == 1) {
      for (i64 w = 0; w < words; ++w) {
        std::uint16_t pair[2][kColumns] = {};
        for (i64 i = 0; i < 2 && 2 * w + i < k; ++i) table.to_bf16(b + (2 * w + i) * row + j, pair[i], valid);
        for (i64 c = 0; c < kColumns; ++c) to[w * kColumns + c] = Word{pair[0][c]} | Word{pair[1][c]} << 16;
      }
      continue;
    }
    if (valid < kColumns) std::fill_n(to, words * kColumns, Word{0});
    // Steps lie side by side in memory, or anyhow: rounded as rows, then transposed.
    for (i64 w = 0; w < words; w += kLines) {
      alignas(64) Word lines[kColumns * kLines];
      const auto count = std::min(kLines, words - w), steps = std::min(2 * count, k - 2 * w);
      for (i64 c = 0; c < valid; ++c) {
        const float* from = b + (j + c) * column + 2 * w * row;
        float gathered[2 * kLines];
        if (row != 1) {
          for (i64 i = 0; i < steps; ++i) gathered[i] = from[i * row];
          from = gathered;
        }
        lines[c * kLines + count - 1] = 0;
        table.to_bf16(from, reinterpret_cast<std::uint16_t*>(lines + c * kLines), steps);
      }
      isa().transpose(reinterpret_cast<const float*>(lines), kLines, reinterpret_cast<float*>(to + w * kColumns),
                      kColumns, valid, count);
    }
  }
}

void rows_to_bf16(const float* a, i64 row, i64 k, i64 m, Word* to, ThreadPool& pool) {
  const auto& table = narrow_isa();
  parallel_ranges(pool, m, static_cast<double>(k) / 8, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      auto* words = to + i * bf16_words(k);
      if (k % 2 == 1) words[k / 2] = 0;
      table.to_bf16(a + i * row, reinterpret_cast<std::uint16_t*>(words), k);
    }
  });
}

NarrowSum Bf16Panels::sum(const Word* rows, i64 row, i64 panel, Ahead* ahead) const {
  const auto words = bf16_words(k);
  return {.in = rows,
          .pixel = row,
          .block = 0,
          .taps = kOneTap,
          .blocks = 1,
          .tap_count = 1,
          .steps = words,
          .last_steps = words,
          .weights = data + panel * panel_size(),
          .ahead = ahead};
}

void product(const Bf16Panels& b, const Word* a, const Bf16Place& c, i64 m, const Epilogue& epilogue,
             const Bf16Place& residual, ThreadPool& pool) {
  if (m == 0 || b.n == 0) return;
  const auto max_pixels = narrow_isa().pixels;
  const auto words = bf16_words(b.k), panels = b.count();
  const auto work = static_cast<double>(m) * static_cast<double>(b.n) * static_cast<double>(b.k) / 80;  // ns, roughly
  const auto wanted = static_cast<i64>(std::clamp(work / static_cast<double>(kChunkWork), 1.0, 64.0));
  // As few blocks of rows as keep a block in the cache, more where the panels are too few to share out.
  const auto fits = std::max<i64>(ceil_div(m * words * 4, kRowsBytes), ceil_div(wanted, panels));
  const auto row_blocks = std::clamp<i64>(fits, 1, ceil_div(m, max_pixels));
  const auto groups = std::clamp<i64>(wanted / row_blocks, 1, panels);
  const bool prefetch = bf16_panels_size(b.k, b.n) > (i64{1} << 18) && m > 1;
  parallel(pool, row_blocks * groups, [&](i64 chunk) {
    const Part rows(m, row_blocks, chunk / groups), group(panels, groups, chunk % groups);
    const auto tiles = ceil_div(rows.size(), max_pixels);
    for (auto panel = group.begin; panel < group.end; ++panel) {
      Ahead ahead;
      const auto next = panel + 1;  // of the thread's next chunk, if not of this one
      if (prefetch && next < panels) {
        ahead.next = reinterpret_cast<const char*>(b.data + next * b.panel_size());
        ahead.end = ahead.next + b.panel_size() * 4;
        ahead.lines = ceil_div(2 * kBlock, tiles);
      }
      const auto column = panel * kColumns, valid = std::min(kColumns, b.n - column);
      for (i64 i = 0; i < tiles; ++i) {
        const Part part(rows.size(), tiles, i);
        const auto row = rows.begin + part.begin;
        bf16_tile(b.sum(a + row * words, words, panel, &ahead), static_cast<int>(part.size()), column, valid, false,
                  epilogue, residual ? at(residual, row, column, b.n) : Bf16Place{}, at(c, row, column, b.n));
      }
    }
  });
}

void product_of_rows(const Bf16Panels& b, const Word* a, const Bf16Place& c, i64 m, const Epilogue& epilogue,
                     const Bf16Place& residual) {
  const auto words = bf16_words(b.k), tiles = ceil_div(m, i64{narrow_isa().pixels});
  for (i64 panel = 0; panel < b.count(); ++panel) {
    const auto column = panel * kColumns, valid = std::min(kColumns, b.n - column);
    for (i64 i = 0; i < tiles; ++i) {
      const Part part(m, tiles, i);
      bf16_tile(b.sum(a + part.begin * words, words, panel, nullptr), static_cast<int>(part.size()), column, valid,
                false, epilogue, residual ? at(residual, part.begin, column, b.n) : Bf16Place{},
                at(c, part.begin, column, b.n));
    }
  }
}

void product_of_rows(const Bf16Panels& b, const float* a, const Bf16Place& c, i64 m, const Epilogue& epilogue,
                     const Bf16Place& residual) {
  const auto at_once = std::min(2 * narrow_isa().pixels, kMostPixels);
  const auto words = bf16_words(b.k);
  alignas(64) std::array<Word, kMostPixels * kMostRounded / 2> rounded;
  for (i64 i = 0; i < m; i += at_once) {
    const auto now = std::min<i64>(at_once, m - i);
    auto* halves = reinterpret_cast<std::uint16_t*>(rounded.data());
    for (i64 r = 0; b.k % 2 == 1 && r < now; ++r) rounded[static_cast<std::size_t>(r * words + words - 1)] = 0;
    narrow_isa().rows_to_bf16(a + i * b.k, b.k, halves, 2 * words, now, b.k);
    product_of_rows(b, rounded.data(), at(c, i, 0, b.n), now, epilogue, residual ? at(residual, i, 0, b.n) : residual);
  }
}

}  // namespace ovir::fast
