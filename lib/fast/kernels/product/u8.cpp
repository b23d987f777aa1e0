#include "fast/kernels/product/u8.hpp"

#include <algorithm>
#include <cstring>

#include "fast/kernels/pair_excess.hpp"
#include "fast/kernels/product/narrow.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kRun = 256;  // numbers at a time
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
  t.sum.excess = excess_of_panel(b.excess, column);
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
  const auto activation = to.levels ? e.activation.shortened() : e.activation;
  t.low = -kInfinity;
  t.high = kInfinity;
  t.wide = values;
  t.out_pixel = kBlock;
  for (int first = 0; first < pixels; first += kMostPixels) {
    const auto now = std::min(kMostPixels, pixels - first);
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

/// What computes a tile.
auto tiles_of(const U8Product& b, const U8Rows& c, const float* residual) {
  return [&b, &c, residual](const NarrowSum& sum, int rows, i64 row, i64 column) {
    const auto offset = row * b.n + column;
    tile(b, sum, rows, column, at(c, offset), residual ? residual + offset : nullptr);
  };
}

}  // namespace

void pack_u8_panels(const std::int8_t* b, i64 row, i64 column, i64 k, i64 n, Word* to) {
  constexpr i64 kLine = 16;  // words of a column, before the next one: all in the order of memory
  const auto words = u8_words(k);
  if (n % kColumns != 0) std::fill_n(to + n / kColumns * kColumns * words, words * kColumns, Word{0});
  for (i64 j = 0; j < n; j += kColumns, to += words * kColumns)
    for (i64 first = 0; first < words; first += kLine)
      for (i64 c = 0; c < std::min(kColumns, n - j); ++c)
        for (auto i = first; i < std::min(words, first + kLine); ++i) {
          const auto* from = b + 4 * i * row + (j + c) * column;
          const auto count = std::min<i64>(4, k - 4 * i);
          Word w = 0;
          if (count == 4 && row == 1) std::memcpy(&w, from, 4);
          else
            for (i64 q = 0; q < count; ++q) w |= Word{static_cast<std::uint8_t>(from[q * row])} << 8 * q;
          to[i * kColumns + c] = w;
        }
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

namespace {

NarrowProduct product_of(const U8Product& b, const Word* a, i64 m) {
  return {a, b.panels.packed, m, b.n, u8_words(b.k), narrow_isa().tiled ? 1 : kTilesAtOnce};
}

}  // namespace

void product(const U8Product& b, const Word* a, const U8Rows& c, i64 m, const float* residual, ThreadPool& pool) {
  const auto p = product_of(b, a, m);
  const auto tiles = tiles_of(b, c, residual);
  if (b.panels.make) for_tiles(p, b.panels, pool, tiles);
  else for_tiles(p, 62.5, i64{1} << 16, pool, tiles);
}

void product_of_rows(const U8Product& b, const Word* a, const U8Rows& c, i64 m, const float* residual) {
  for_tiles(product_of(b, a, m), tiles_of(b, c, residual));
}

}  // namespace ovir::fast
