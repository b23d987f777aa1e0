#include "fast/kernels/product/batched_u8.hpp"

#include <algorithm>

#include "fast/kernels/chunks.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kRows = 28;  // at a time: two tiles of the widest loops
constexpr i64 kRun = 256;  // numbers that become levels and numbers again

i64 left_size(const U8BatchedProduct& u) {
  return u.reads_a ? 0 : round_up(u.p.a_matrices * u.p.m * u8_words(u.p.k), kBlock);
}
i64 right_size(const U8BatchedProduct& u) { return u.p.b_matrices * level_panels_size(u.p.k, u.p.n); }
i64 row_size(const U8BatchedProduct& u) { return round_up(u.p.n, kColumns); }

/// Panels that are as wide as the rows of the result may be stored there.
bool stores_in_place(const U8BatchedProduct& u) { return !u.levels && u.p.n % kColumns == 0; }

/// What rows of f32 become that were computed aside.
void give(const U8BatchedProduct& u, const float* sums, i64 count, const U8Rows& c, i64 first) {
  const auto n = u.p.n;
  for (i64 i = 0; i < count; ++i, sums += row_size(u)) {
    const auto place = (first + i) * n;
    if (!u.levels) {
      std::copy_n(sums, n, c.wide + place);
      continue;
    }
    for (i64 j = 0; j < n; j += kRun) {
      std::uint8_t run[kRun];
      const auto now = std::min(kRun, n - j);
      auto* to = c.levels ? c.levels + place + j : run;
      rows_to_u8(sums + j, *u.levels, now, 1, to, now);
      if (c.wide) from_u8(run, *u.levels, c.wide + place + j, now);
    }
  }
}

}  // namespace

i64 u8_batched_scratch_size(const U8BatchedProduct& u, int threads) {
  return left_size(u) + right_size(u) + (stores_in_place(u) ? 0 : threads * kRows * row_size(u));
}

void u8_batched_product(const U8BatchedProduct& u, const LevelRows& a, const LevelRows& b, const U8Rows& c,
                        float* scratch, ThreadPool& pool) {
  const auto& p = u.p;
  const auto words = u8_words(p.k), matrix = level_panels_size(p.k, p.n);
  auto* own_rows = reinterpret_cast<Word*>(scratch);
  auto* panels = own_rows + left_size(u);
  const auto* rows = u.reads_a ? reinterpret_cast<const Word*>(a.levels) : own_rows;
  if (!u.reads_a) {
    const LevelRows from{.wide = a.wide, .levels = a.levels, .row = p.k};
    parallel_ranges(pool, p.a_matrices * p.m, static_cast<double>(p.k) / 8, [&](i64 begin, i64 end) {
      rows_to_levels(from.from(begin), p.k, end - begin, u.a, own_rows + begin * words);
    });
  }
  const auto groups = ceil_div(p.n, kColumns);
  parallel_ranges(pool, p.b_matrices * groups, static_cast<double>(p.k * kColumns) / 8, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto column = i % groups * kColumns, count = std::min(kColumns, p.n - column);
      const LevelRows all{.wide = b.wide, .levels = b.levels, .row = p.b_transposed ? p.k : p.n};
      const auto row = i / groups * (p.b_transposed ? p.n : p.k);
      const auto from = p.b_transposed ? all.from(row + column) : all.from(row, column);
      auto* to = panels + i * level_panel_size(p.k);
      if (p.b_transposed) pack_level_columns(from, p.k, count, u.b, u.a, to);
      else pack_level_rows(from, p.k, count, u.b, u.a, to);
    }
  });
  const auto blocks = ceil_div(p.m, kRows);
  const auto offset = u.b.offset + 128;
  Slots rooms(scratch + left_size(u) + right_size(u), kRows * row_size(u), slots_for(pool));
  parallel_ranges(pool, p.count() * blocks, static_cast<double>(kRows * p.k * p.n) / 250, [&](i64 begin, i64 end) {
    const Slots::Lease room(rooms);
    for (auto i = begin; i < end; ++i) {
      const auto product = i / blocks;
      const Part part(p.m, blocks, i % blocks);
      const auto* left = rows + (p.a[product] * p.m + part.begin) * words;
      const auto first = product * p.m + part.begin;
      float added[kRows];
      if (offset != 0) add_up_levels(left, words, p.k, part.size(), offset, added);
      const bool in_place = stores_in_place(u);
      multiply_levels({.rows = left,
                       .row = words,
                       .panels = panels + p.b[product] * matrix,
                       .k = p.k,
                       .n = p.n,
                       .first = 0,
                       .steps = p.k,
                       .scale = u.scale,
                       .added = offset != 0 ? added : nullptr,
                       .out = in_place ? c.wide + first * p.n : room.data(),
                       .out_row = in_place ? p.n : row_size(u)},
                      part.size());
      if (!in_place) give(u, room.data(), part.size(), c, first);
    }
  });
}

}  // namespace ovir::fast
