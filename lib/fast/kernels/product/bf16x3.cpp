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

/// Rows of the steps of some blocks, [block][part][`most` rows][16].
void split_rows(const float* a, i64 row, i64 rows, i64 steps, i64 most, Word* to) {
  const auto& table = narrow_isa();
  for (i64 first = 0; first < steps; first += kBf16x3Steps, to += 3 * most * kBlock) {
    if (steps - first >= kBf16x3Steps) {
      table.to_bf16x3(a + first, a + first + kBlock, row, rows, to, most * kBlock);
      continue;
    }
    for (i64 i = 0; i < rows; ++i) {
      alignas(64) float last[kBf16x3Steps] = {};
      std::copy_n(a + i * row + first, steps - first, last);
      table.to_bf16x3(last, last + kBlock, 0, 1, to + i * kBlock, most * kBlock);
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

/// use(block, word, even line, odd line) for all pairs of lines of 32 columns, blocks of all panels counted.
template <class Use>
void for_pairs_of_lines(const float* b, i64 row, i64 column, i64 k, i64 n, Use use) {
  i64 block = 0;
  for (i64 j = 0; j < n; j += kColumns) {
    const auto valid = std::min(kColumns, n - j);
    for (i64 first = 0; first < k; first += kBf16x3Steps, ++block) {
      alignas(64) float lines[kBf16x3Steps * kColumns] = {};
      const auto count = std::min(kBf16x3Steps, k - first);
      const auto* from = b + first * row + j * column;
      if (column == 1)
        for (i64 i = 0; i < count; ++i) std::copy_n(from + i * row, valid, lines + i * kColumns);
      else isa().transpose(from, column, lines, kColumns, valid, count);
      for (i64 w = 0; w < kBlock; ++w) use(block, w, lines + 2 * w * kColumns, lines + (2 * w + 1) * kColumns);
    }
  }
}

}  // namespace

bool bf16x3_pays(i64 m, i64 k, i64 n) {
  return narrow_isa().to_bf16x3 && k >= kBf16x3Steps && m >= (k * n < kLarge ? kManyRows : kLargeRows);
}

i64 bf16x3_panels_size(i64 k, i64 n) {
  const Bf16x3Panels panels{nullptr, k, n};
  return panels.count() * panels.panel_size();
}
i64 bf16x3_pairs_size(i64 k, i64 n) { return bf16x3_panels_size(k, n) / 3 * 2; }

void pack_bf16x3_panels(const float* b, i64 row, i64 column, i64 k, i64 n, Word* to) {
  for_pairs_of_lines(b, row, column, k, n, [&](i64 block, i64 word, const float* even, const float* odd) {
    auto* last = to + block * 3 * kBlock * kColumns + (2 * kBlock + word) * kColumns;
    narrow_isa().lines_to_bf16x3(even, odd, last, -kBlock * kColumns);
  });
}

void pack_bf16x3_pairs(const float* b, i64 row, i64 column, i64 k, i64 n, float* to) {
  for_pairs_of_lines(b, row, column, k, n, [&](i64 block, i64 word, const float* even, const float* odd) {
    auto* pairs = to + (block * kBlock + word) * 2 * kColumns;
    for (i64 c = 0; c < kColumns; ++c) {
      pairs[2 * c] = even[c];
      pairs[2 * c + 1] = odd[c];
    }
  });
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
        split_rows(a + i * kRows * b.k + step, b.k, std::min(kRows, m - i * kRows), steps, kRows, scratch + i * words);
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

void product_alone(const Bf16x3Pairs& b, const float* a, float* c, i64 m, const Epilogue& e) {
  alignas(64) std::array<Word, bf16x3_blocks(kMostInThree) * kBlockWords> parts;
  alignas(64) std::array<Word, Bf16x3Rows::kRoom> room;
  if (m == 0 || b.n == 0) return;
  const bool whole = e.is_simple();
  float low = 0, high = 0;
  bf16_bounds(e, low, high);
  const auto* residual = whole || !e.residual_last ? e.residual : nullptr;
  for (i64 i = 0, groups = ceil_div(m, kRows); i < groups; ++i) {
    const Part mine(m, groups, i);
    const auto rows = mine.size(), place = mine.begin * b.n;
    split_rows(a + mine.begin * b.k, b.k, rows, b.k, rows, parts.data());
    narrow_isa().bf16x3_rows({.in = parts.data(),
                              .rows = static_cast<int>(rows),
                              .blocks = bf16x3_blocks(b.k),
                              .n = b.n,
                              .weights = b.data,
                              .room = room.data(),
                              .bias = e.bias,
                              .residual = residual ? residual + place : nullptr,
                              .low = low,
                              .high = high,
                              .out = c + place,
                              .row = b.n});
    if (whole) continue;
    // What the loops have not done.
    Epilogue rest{.activation = e.activation, .slopes = e.slopes, .residual_last = e.residual_last};
    const auto* last = e.residual_last ? e.residual : nullptr;
    if (!last && !e.slopes) isa().unary(e.activation, c + place, c + place, rows * b.n);
    else
      for (auto r = mine.begin; r < mine.end; ++r)
        finish_row(isa(), rest, 0, 1, c + r * b.n, last ? last + r * b.n : nullptr, c + r * b.n, b.n);
  }
}

}  // namespace ovir::fast
