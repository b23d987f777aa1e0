#include "fast/kernels/product/bf16.hpp"

#include <algorithm>
#include <array>

#include "fast/kernels/product/narrow.hpp"

namespace ovir::fast {
namespace {

Bf16Place at(const Bf16Place& whole, i64 row, i64 column, i64 n) {
  const auto offset = row * n + column;
  return {.wide = whole.wide ? whole.wide + offset : nullptr,
          .narrow = whole.narrow ? whole.narrow + offset : nullptr,
          .pixel = n};
}

NarrowProduct narrow(const Bf16Panels& b, const Word* a, i64 m) {
  return {a, b.data, m, b.n, bf16_words(b.k), narrow_isa().tiled ? 1 : kTilesAtOnce};
}

/// What computes a tile.
auto tiles_of(const Bf16Panels& b, const Bf16Place& c, const Epilogue& epilogue, const Bf16Place& residual) {
  return [&](const NarrowSum& sum, int rows, i64 row, i64 column) {
    bf16_tile(sum, rows, column, std::min(kColumns, b.n - column), false, epilogue,
              residual ? at(residual, row, column, b.n) : Bf16Place{}, at(c, row, column, b.n));
  };
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
  auto sum = NarrowProduct{rows, data, 0, n, bf16_words(k)}.sum(0, panel, ahead);
  sum.pixel = row;
  return sum;
}

void product(const Bf16Panels& b, const Word* a, const Bf16Place& c, i64 m, const Epilogue& epilogue,
             const Bf16Place& residual, ThreadPool& pool) {
  for_tiles(narrow(b, a, m), 40, i64{1} << 18, pool, tiles_of(b, c, epilogue, residual));
}

void product(const WordPanels& panels, i64 k, i64 n, const Word* a, const Bf16Place& c, i64 m, const Epilogue& epilogue,
             const Bf16Place& residual, ThreadPool& pool) {
  const Bf16Panels b{panels.packed, k, n};
  if (!panels.make) return product(b, a, c, m, epilogue, residual, pool);
  for_tiles(narrow({nullptr, k, n}, a, m), panels, pool, tiles_of(b, c, epilogue, residual));
}

void product_of_few(const Bf16Panels& b, const Word* a, const float* bias, float* c, i64 m, ThreadPool& pool) {
  constexpr double kBytesPerNs = 128;  // between those of the second-level cache and of the third
  if (m == 0) return;
  const auto size = b.panel_size(), whole = b.n / kColumns;
  const auto panels = [&](i64 begin, i64 count, float* to, i64 to_row) {
    narrow_isa().bf16_few_rows({.in = a,
                                .row = bf16_words(b.k),
                                .words = bf16_words(b.k),
                                .weights = b.data + begin * size,
                                .bias = bias ? bias + begin * kColumns : nullptr,
                                .out = to,
                                .out_row = to_row,
                                .columns = count * kColumns},
                               static_cast<int>(m));
  };
  parallel_ranges(pool, b.count(), static_cast<double>(size * 4) / kBytesPerNs, [&](i64 begin, i64 end) {
    panels(begin, std::min(end, whole) - begin, c + begin * kColumns, b.n);
    if (end <= whole) return;
    alignas(64) std::array<float, Bf16FewRows::kMost * kColumns> aside;
    panels(whole, 1, aside.data(), kColumns);
    for (i64 i = 0; i < m; ++i) std::copy_n(&aside[i * kColumns], b.n % kColumns, c + i * b.n + whole * kColumns);
  });
}

void product_of_rows(const Bf16Panels& b, const Word* a, const Bf16Place& c, i64 m, const Epilogue& epilogue,
                     const Bf16Place& residual) {
  for_tiles(narrow(b, a, m), tiles_of(b, c, epilogue, residual));
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
