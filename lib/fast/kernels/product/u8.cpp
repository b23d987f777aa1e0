#include "fast/kernels/product/u8.hpp"

#include <algorithm>

#include "fast/kernels/chunks.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kRowsBytes = 384 << 10;  // of the left operand, while all panels go by
constexpr i64 kRun = 256;              // numbers at a time
constexpr float kInfinity = std::numeric_limits<float>::infinity();

U8Rows at(const U8Rows& whole, i64 offset) {
  return {whole.levels ? whole.levels + offset : nullptr, whole.wide ? whole.wide + offset : nullptr};
}

/// A tile: pixels by the columns of a panel. `to` and `residual` are those of its first element.
void tile(const U8Product& b, const NarrowSum& sum, int pixels, i64 column, const U8Rows& to, const float* residual) {
  const auto& table = narrow_isa();
  const auto valid = std::min(kColumns, b.n - column);
  const auto& e = b.epilogue;
  const bool bounded = e.activation.f == Function::clamp;
  const auto low = bounded ? e.activation.a : -kInfinity, high = bounded ? e.activation.b : kInfinity;
  U8Tile t{.sum = sum, .scale = b.scale + column, .shift = b.shift + column, .low = low, .high = high};
  if (valid == kColumns && e.activation.is_clamp() && (!b.levels || (to.levels && !b.levels->factors && !residual)) &&
      !(residual && e.residual_last && bounded)) {
    if (b.levels) {
      const auto level = [&](float v) { return (v - b.levels->low) / b.levels->step; };
      t.scale = b.level_scale + column;
      t.shift = b.level_shift + column;
      t.low = std::max(0.0f, level(low));
      t.high = std::min(b.levels->max_level, level(high));
      t.small = b.small;
      t.out = to.levels;
    } else {
      t.wide = to.wide;
      t.out_block = kBlock;
    }
    t.out_pixel = b.n;
    if (residual) {
      t.low = -kInfinity;
      t.high = kInfinity;
      t.min = low;
      t.max = high;
      t.other = 1;
      t.wide_residual = residual;
      t.residual_pixel = b.n;
      t.residual_block = kBlock;
    }
    return table.u8(t, pixels);
  }
  // Aside, the 16 columns of all pixels side by side.
  alignas(64) float values[kMostPixels * kColumns];
  alignas(64) std::uint8_t levels[kMostPixels * 4 * kBlock];
  const auto& loops = isa();
  auto activation = e.activation;
  if (activation.f == Function::gelu_erf && to.levels) activation.f = Function::gelu_short;
  t.low = -kInfinity;
  t.high = kInfinity;
  t.wide = values;
  t.out_pixel = kBlock;
  for (int first = 0; first < pixels; first += table.pixels) {
    const auto now = std::min(table.pixels, pixels - first);
    const i64 half = now * kBlock;
    t.out_block = half;
    t.sum.in = sum.in + first * sum.pixel;
    table.u8(t, now);
    const auto by_runs = [&](auto work) {  // of an output row
      for (i64 p = 0; p < now; ++p)
        for (i64 c = 0; c < valid; c += kBlock)
          work((first + p) * b.n + c, values + c / kBlock * half + p * kBlock, std::min(kBlock, valid - c));
    };
    const auto add = [&] {
      by_runs([&](i64 place, float* v, i64 count) {
        for (i64 i = 0; i < count; ++i) v[i] += residual[place + i];
      });
    };
    if (residual && !e.residual_last) add();
    if (e.has_activation()) loops.unary(activation, values, values, 2 * half);
    if (residual && e.residual_last) add();
    if (!b.levels) {
      by_runs([&](i64 place, const float* v, i64 count) { std::copy_n(v, count, to.wide + place); });
      continue;
    }
    for (const i64 c : {i64{0}, kBlock})
      table.sixteen_to_u8(values + c / kBlock * half, b.level_by + column + c, b.level_plus + column + c,
                          b.levels->max_level, levels + c, now);
    for (i64 p = 0; p < now; ++p) {
      const auto* from = levels + p * 4 * kBlock;
      const auto place = (first + p) * b.n;
      if (to.wide) from_u8(from, *b.levels, to.wide + place, valid);
      else if (valid == kColumns) std::copy_n(from, kColumns, to.levels + place);
      else std::copy_n(from, valid, to.levels + place);
    }
  }
}

NarrowSum sum_of(const U8Product& b, const Word* rows, i64 panel, Ahead* ahead) {
  const auto words = u8_words(b.k);
  return {.in = rows,
          .pixel = words,
          .block = 0,
          .taps = kOneTap,
          .blocks = 1,
          .tap_count = 1,
          .steps = words,
          .last_steps = words,
          .weights = b.panels + panel * words * kColumns,
          .ahead = ahead};
}

}  // namespace

i64 u8_panels_size(i64 k, i64 n) { return u8_words(k) * round_up(n, kColumns); }

void pack_u8_panels(const std::int8_t* b, i64 row, i64 column, i64 k, i64 n, Word* to) {
  std::fill_n(to, u8_panels_size(k, n), Word{0});
  const auto words = u8_words(k);
  const auto word = [&](const std::int8_t* from, i64 count) {
    Word w = 0;
    for (i64 q = 0; q < count; ++q) w |= Word{static_cast<std::uint8_t>(from[q * row])} << 8 * q;
    return w;
  };
  for (i64 j = 0; j < n; j += kColumns, to += words * kColumns)
    // In the order of memory.
    if (const auto valid = std::min(kColumns, n - j); row == 1)
      for (i64 c = 0; c < valid; ++c)
        for (i64 i = 0; i < words; ++i)
          to[i * kColumns + c] = word(b + (j + c) * column + 4 * i, std::min<i64>(4, k - 4 * i));
    else
      for (i64 i = 0; i < words; ++i)
        for (i64 c = 0; c < valid; ++c)
          to[i * kColumns + c] = word(b + 4 * i * row + (j + c) * column, std::min<i64>(4, k - 4 * i));
}

void rows_to_u8(const float* x, const U8RowScale& q, i64 n, i64 rows, std::uint8_t* to, i64 apart) {
  const auto& table = narrow_isa();
  const auto& loops = isa();
  if (!q.factors && apart == n) {
    n *= rows;
    rows = 1;
  }
  for (i64 r = 0; r < rows; ++r, x += n, to += apart) {
    if (!q.factors) {
      table.to_u8(x, q.by, q.plus, q.max_level, to, n);
      continue;
    }
    alignas(64) float run[kRun];
    for (i64 c = 0; c < n; c += kRun) {
      const auto now = std::min(kRun, n - c);
      loops.binary(Binary::multiply, x + c, 1, q.factors + c, 1, run, now);
      table.to_u8(run, q.by, q.plus, q.max_level, to + c, now);
    }
  }
}

void from_u8(const std::uint8_t* levels, const U8RowScale& q, float* to, i64 n) {
  for (i64 i = 0; i < n; ++i) to[i] = q.low + q.step * static_cast<float>(levels[i]);
}

void product(const U8Product& b, const Word* a, const U8Rows& c, i64 m, const float* residual, ThreadPool& pool) {
  if (m == 0 || b.n == 0) return;
  const auto max_pixels = i64{narrow_isa().pixels}, words = u8_words(b.k), panels = ceil_div(b.n, kColumns);
  const auto work = static_cast<double>(m) * static_cast<double>(b.n) * static_cast<double>(b.k) / 250;  // ns, roughly
  const auto wanted = static_cast<i64>(std::clamp(work / static_cast<double>(kChunkWork), 1.0, 64.0));
  // As few blocks of rows as keep a block in the cache, more where the panels are too few to share out.
  const auto fits = std::max<i64>(ceil_div(m * words * 4, kRowsBytes), ceil_div(wanted, panels));
  const auto row_blocks = std::clamp<i64>(fits, 1, ceil_div(m, max_pixels));
  const auto groups = std::clamp<i64>(wanted / row_blocks, 1, panels);
  const bool prefetch = u8_panels_size(b.k, b.n) > (i64{1} << 16) && m > 1;
  parallel(pool, row_blocks * groups, [&](i64 chunk) {
    const Part rows(m, row_blocks, chunk / groups), group(panels, groups, chunk % groups);
    const auto tiles = ceil_div(rows.size(), max_pixels);
    for (auto panel = group.begin; panel < group.end; ++panel) {
      Ahead ahead;
      const auto next = panel + 1;  // of the thread's next chunk, if not of this one
      if (prefetch && next < panels) {
        ahead.next = reinterpret_cast<const char*>(b.panels + next * words * kColumns);
        ahead.end = ahead.next + words * kColumns * 4;
        ahead.lines = ceil_div(2 * kBlock, tiles);
      }
      for (i64 i = 0; i < tiles; ++i) {
        const Part part(rows.size(), tiles, i);
        const auto row = rows.begin + part.begin, offset = row * b.n + panel * kColumns;
        tile(b, sum_of(b, a + row * words, panel, &ahead), static_cast<int>(part.size()), panel * kColumns,
             at(c, offset), residual ? residual + offset : nullptr);
      }
    }
  });
}

void product_of_rows(const U8Product& b, const Word* a, const U8Rows& c, i64 m, const float* residual) {
  const auto tiles = ceil_div(m, i64{narrow_isa().pixels}), words = u8_words(b.k);
  for (i64 panel = 0; panel < ceil_div(b.n, kColumns); ++panel)
    for (i64 i = 0; i < tiles; ++i) {
      const Part part(m, tiles, i);
      const auto offset = part.begin * b.n + panel * kColumns;
      tile(b, sum_of(b, a + part.begin * words, panel, nullptr), static_cast<int>(part.size()), panel * kColumns,
           at(c, offset), residual ? residual + offset : nullptr);
    }
}

}  // namespace ovir::fast
