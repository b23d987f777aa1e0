#include "fast/kernels/product/bf16x3.hpp"

#include <algorithm>
#include <array>

#include "fast/kernels/chunks.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kRows = 32;      // whose parts lie together: as many as are multiplied at once
constexpr i64 kManyRows = 24;  // from which on it pays
constexpr i64 kLarge = 256 << 10,
              kLargeRows = 52;       // of a matrix that does not stay in the cache: it takes 6 bytes, not 4
constexpr i64 kDeep = 1024;          // steps that are done at once
constexpr i64 kRowsBytes = 1 << 20;  // of the left operand, while all panels go by
constexpr i64 kEnough = 12;          // chunks: more rows at once are better, for panels are read once for all of them
constexpr i64 kBlockWords = 3 * kRows * kBlock;
constexpr double kProductsPerNs = 150;
static_assert(kRows <= kMostPixels);

/// Blocks that are done at once: balanced.
i64 depth(i64 k) {
  const auto blocks = bf16x3_blocks(k);
  return k <= kDeep * 3 / 2 ? blocks : ceil_div(blocks, ceil_div(k, kDeep));
}

/// Up to 32 rows of the steps of some blocks, [block][part][32][16].
void split_rows(const float* a, i64 row, i64 rows, i64 steps, Word* to) {
  const auto& table = narrow_isa();
  for (i64 first = 0; first < steps; first += kBf16x3Steps, to += kBlockWords) {
    if (steps - first >= kBf16x3Steps) {
      table.to_bf16x3(a + first, a + first + kBlock, row, rows, to, kRows * kBlock);
      continue;
    }
    for (i64 i = 0; i < rows; ++i) {
      alignas(64) float last[kBf16x3Steps] = {};
      std::copy_n(a + i * row + first, steps - first, last);
      table.to_bf16x3(last, last + kBlock, 0, 1, to + i * kBlock, kRows * kBlock);
    }
  }
}

/// Blocks [first, first + blocks) of a panel by up to 32 rows, which begin at row `row` of c.
void tile(const Bf16x3Panels& b, const Word* a, i64 first, i64 blocks, i64 panel, i64 row, i64 rows, float* c,
          const Epilogue& e, const float* residual, Ahead* ahead) {
  const auto column = panel * kColumns, place = row * b.n + column;
  bf16_tile({.in = a,
             .pixel = kBlock,
             .block = kBlockWords,
             .taps = kOneTap,
             .blocks = blocks,
             .tap_count = 1,
             .steps = kBlock,
             .last_steps = kBlock,
             .weights = b.data + panel * b.panel_size() + first * 3 * kBlock * kColumns,
             .ahead = ahead,
             .part = kRows * kBlock},
            static_cast<int>(rows), column, std::min(kColumns, b.n - column), false, e,
            residual ? Bf16Place{.wide = const_cast<float*>(residual) + place, .pixel = b.n} : Bf16Place{},
            {.wide = c + place, .pixel = b.n});
}

}  // namespace

bool bf16x3_pays(i64 m, i64 k, i64 n) {
  return narrow_isa().to_bf16x3 && k >= kBf16x3Steps && m >= (k * n < kLarge ? kManyRows : kLargeRows);
}

i64 bf16x3_panels_size(i64 k, i64 n) {
  const Bf16x3Panels panels{nullptr, k, n};
  return panels.count() * panels.panel_size();
}

void pack_bf16x3_panels(const float* b, i64 row, i64 column, i64 k, i64 n, Word* to) {
  for (i64 j = 0; j < n; j += kColumns) {
    const auto valid = std::min(kColumns, n - j);
    for (i64 first = 0; first < k; first += kBf16x3Steps, to += 3 * kBlock * kColumns) {
      alignas(64) float lines[kBf16x3Steps * kColumns] = {};
      const auto count = std::min(kBf16x3Steps, k - first);
      const auto* from = b + first * row + j * column;
      if (column == 1)
        for (i64 i = 0; i < count; ++i) std::copy_n(from + i * row, valid, lines + i * kColumns);
      else isa().transpose(from, column, lines, kColumns, valid, count);
      for (i64 w = 0; w < kBlock; ++w)
        narrow_isa().lines_to_bf16x3(lines + 2 * w * kColumns, lines + (2 * w + 1) * kColumns,
                                     to + (2 * kBlock + w) * kColumns, -kBlock * kColumns);
    }
  }
}

i64 bf16x3_scratch_size(i64 m, i64 k) { return ceil_div(m, kRows) * bf16x3_blocks(k) * kBlockWords; }

void product(const Bf16x3Panels& b, const float* a, float* c, i64 m, const Epilogue& epilogue, Word* scratch,
             ThreadPool& pool) {
  if (m == 0 || b.n == 0) return;
  // Sums so far lie in c, so nothing else may be added after the first steps.
  const auto all = bf16x3_blocks(b.k), deep = epilogue.residual && epilogue.residual_last ? all : depth(b.k);
  const auto groups_of_rows = ceil_div(m, kRows), panels = b.count();
  for (i64 first = 0; first < all; first += deep) {
    const auto blocks = std::min(deep, all - first), step = first * kBf16x3Steps,
               steps = std::min(blocks * kBf16x3Steps, b.k - step);
    const auto words = blocks * kBlockWords;  // of 32 rows
    parallel_ranges(pool, groups_of_rows, static_cast<double>(kRows * steps) / 6, [&](i64 begin, i64 end) {
      for (auto i = begin; i < end; ++i)
        split_rows(a + i * kRows * b.k + step, b.k, std::min(kRows, m - i * kRows), steps, scratch + i * words);
    });
    Epilogue e = epilogue;
    const float* residual = e.residual;
    const bool last = first + blocks == all;
    if (!last) e = {.bias = e.bias};
    if (first > 0) {
      e.bias = nullptr;
      residual = c;
    }
    const auto work = static_cast<double>(m) * static_cast<double>(b.n) * static_cast<double>(steps) / kProductsPerNs;
    const auto wanted = static_cast<i64>(std::clamp(work / static_cast<double>(kChunkWork), 1.0, 64.0));
    // As few blocks of rows as keep a block in the cache, more where the panels are too few to share out.
    const auto fits =
        std::max<i64>(ceil_div(groups_of_rows * words * 4, kRowsBytes), ceil_div(std::min(wanted, kEnough), panels));
    const auto row_blocks = std::clamp<i64>(fits, 1, groups_of_rows);
    const auto groups = std::clamp<i64>(wanted / row_blocks, 1, panels);
    parallel(pool, row_blocks * groups, [&](i64 chunk) {
      const Part mine(groups_of_rows, row_blocks, chunk / groups), group(panels, groups, chunk % groups);
      for (auto panel = group.begin; panel < group.end; ++panel) {
        Ahead ahead;
        if (panel + 1 < panels) {  // of the thread's next chunk, if not of this one
          const auto* next = b.data + (panel + 1) * b.panel_size() + first * 3 * kBlock * kColumns;
          ahead = {.next = reinterpret_cast<const char*>(next),
                   .end = reinterpret_cast<const char*>(next + blocks * 3 * kBlock * kColumns),
                   .lines = ceil_div(6 * kBlock, mine.size())};
        }
        for (auto i = mine.begin; i < mine.end; ++i)
          tile(b, scratch + i * words, first, blocks, panel, i * kRows, std::min(kRows, m - i * kRows), c, e, residual,
               &ahead);
      }
    });
  }
}

void product_alone(const Bf16x3Panels& b, const float* a, float* c, i64 m, const Epilogue& epilogue) {
  alignas(64) std::array<Word, bf16x3_blocks(kMostInThree) * kBlockWords> parts;
  for (i64 row = 0; row < m; row += kRows) {
    const auto rows = std::min(kRows, m - row);
    split_rows(a + row * b.k, b.k, rows, b.k, parts.data());
    for (i64 panel = 0; panel < b.count(); ++panel)
      tile(b, parts.data(), 0, bf16x3_blocks(b.k), panel, row, rows, c, epilogue, epilogue.residual, nullptr);
  }
}

}  // namespace ovir::fast
