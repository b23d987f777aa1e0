#include "fast/kernels/attention/heads.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fast/kernels/epilogue.hpp"

namespace ovir::fast {
namespace {

/// c[m][n] (+)= a · rows [first, first + steps) of the panels, columns rounded up to whole panels' in c.
void multiply(const float* a, i64 a_row, i64 m, const Panels& b, i64 first, i64 steps, float* c, i64 c_row, bool add) {
  const auto& table = isa();
  for (i64 panel = 0; panel < b.count(); ++panel) {
    Tile tile{};
    tile.in = a;
    tile.pixel = a_row;
    tile.taps = kOneTap;
    tile.blocks = tile.tap_count = 1;
    tile.steps = steps;
    tile.weights = b.panel(panel) + first * b.columns(panel);
    tile.filled = b.filled(panel);
    tile.out = c + panel * kColumns;
    tile.out_pixel = c_row;
    tile.out_block = kBlock;
    begin(tile, {}, 0, add ? tile.out : nullptr, c_row, kBlock);
    table.packed(tile, m, static_cast<int>(b.columns(panel)));
  }
}

/// The same in bf16.
void multiply(const Word* a, i64 a_row, i64 m, const Bf16Panels& b, const Bf16Place& c, bool add) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto& table = narrow_isa();
  for (i64 panel = 0; panel < b.count(); ++panel) {
    float* wide = c.wide ? c.wide + panel * kColumns : nullptr;
    table.bf16({.sum = b.sum(a, a_row, panel, nullptr),
                .wide_residual = add ? wide : nullptr,
                .residual_pixel = c.pixel,
                .residual_block = kBlock,
                .low = -kInfinity,
                .high = kInfinity,
                .wide = wide,
                .out = c.narrow ? c.narrow + panel * kColumns : nullptr,
                .out_pixel = c.pixel,
                .out_block = kBlock},
               static_cast<int>(m));
  }
}

/// n halves as words, an odd one padded with 0.
void copy_words(const std::uint16_t* from, i64 n, Word* to) {
  if (n % 2 == 1) to[n / 2] = 0;
  std::copy_n(from, n, reinterpret_cast<std::uint16_t*>(to));
}

/// Whether rows of halves are words.
bool is_words(const std::uint16_t* p, i64 row, i64 n) {
  return n % 2 == 0 && row % 2 == 0 && reinterpret_cast<std::uintptr_t>(p) % sizeof(Word) == 0;
}

/// Keys in bf16 become panels: columns of words.
void pack_narrow_keys(const std::uint16_t* k, i64 row, i64 depth, i64 keys, Word* to) {
  constexpr i64 kLines = 32;  // words of a key at a time
  const auto words = bf16_words(depth);
  const auto as_floats = [](const auto* p) { return reinterpret_cast<const float*>(p); };
  for (i64 j = 0; j < keys; j += kColumns, to += words * kColumns) {
    const auto valid = std::min(kColumns, keys - j);
    if (valid < kColumns) std::fill_n(to, words * kColumns, Word{0});
    const auto* from = k + j * row;
    if (is_words(from, row, depth)) {
      isa().transpose(as_floats(from), row / 2, reinterpret_cast<float*>(to), kColumns, valid, words);
      continue;
    }
    for (i64 w = 0; w < words; w += kLines) {
      alignas(64) Word lines[kColumns * kLines];
      const auto count = std::min(kLines, words - w), halves = std::min(2 * count, depth - 2 * w);
      for (i64 c = 0; c < valid; ++c) copy_words(from + c * row + 2 * w, halves, lines + c * kLines);
      isa().transpose(as_floats(lines), kLines, reinterpret_cast<float*>(to + w * kColumns), kColumns, valid, count);
    }
  }
}

/// Values in bf16 become panels: words of two neighboring rows.
void pack_narrow_values(const std::uint16_t* v, i64 row, i64 keys, i64 depth, Word* to) {
  for (i64 c = 0; c < depth; c += kColumns, to += bf16_words(keys) * kColumns)
    narrow_isa().pair_rows(v + c, row, keys, std::min(kColumns, depth - c), to);
}

LevelRows level_rows(const HeadView& v) {
  return {.wide = v.data, .levels = v.levels, .row = v.row, .column = v.column};
}

i64 blocks_of(const AttentionShape& s) { return ceil_div(s.keys, block_keys(s)); }

/// Floats that packed keys and values take: blocks of block_keys(), each packed by itself.
i64 packed_keys_size(const AttentionShape& s) {
  if (s.level_scores) return level_panels_size(s.depth, s.keys);
  return s.bf16 ? round_up(s.keys, kColumns) * bf16_words(s.depth) : round_up(s.keys, kBlock) * s.depth;
}
i64 packed_values_size(const AttentionShape& s) {
  if (s.level_values) return level_panels_size(s.keys, s.value_depth);
  return s.bf16 ? bf16_words(s.keys) * round_up(s.value_depth, kColumns) : s.keys * round_up(s.value_depth, kBlock);
}

}  // namespace

i64 packed_head_size(const AttentionShape& s) {
  const auto squares = round_up(blocks_of(s) * i64{sizeof(Squares) / sizeof(float)}, kBlock);
  return packed_keys_size(s) + packed_values_size(s) + squares;
}

PackedHead packed_head(const AttentionShape& s, bool hides, float* memory) {
  auto* values = memory + packed_keys_size(s);
  return {memory, values, hides ? reinterpret_cast<Squares*>(values + packed_values_size(s)) : nullptr};
}

PackedHead PackedHead::from(const AttentionShape& s, i64 k0) const {
  const auto depth = s.level_scores ? u8_words(s.depth) + 1 : s.bf16 ? bf16_words(s.depth) : s.depth;
  return {keys + k0 * depth,
          values + (s.bf16 ? k0 / 2 * round_up(s.value_depth, kColumns) : k0 * round_up(s.value_depth, kBlock)),
          squares ? squares + k0 / block_keys(s) : nullptr};
}

void pack_keys(const AttentionShape& s, const HeadView& k, const HeadView& v, i64 k0, i64 count,
               const PackedHead& head) {
  const auto key = k.from(k0), value = v.from(k0);
  const auto to = head.from(s, k0);
  if (!s.bf16) {
    if (s.level_scores) pack_level_columns(level_rows(key), s.depth, count, s.k_levels, s.q_levels, words(to.keys));
    else pack_panels(key.data, k.column, k.row, s.depth, count, 0, ceil_div(count, kColumns), to.keys);
    if (s.level_values)
      pack_level_rows(level_rows(value), count, s.value_depth, s.v_levels, s.p_levels, words(to.values));
    else pack_panels(value.data, v.row, 1, count, s.value_depth, 0, ceil_div(s.value_depth, kColumns), to.values);
    if (to.squares)
      *to.squares = {s.level_scores ? 0 : isa().deviation(to.keys, 0, round_up(count, kBlock) * s.depth),
                     s.level_values ? 0 : isa().deviation(to.values, 0, count * round_up(s.value_depth, kBlock))};
    return;
  }
  if (k.narrow) pack_narrow_keys(key.narrow, k.row, s.depth, count, words(to.keys));
  else pack_bf16_panels(key.data, k.column, k.row, s.depth, count, words(to.keys));
  if (v.narrow) pack_narrow_values(value.narrow, v.row, count, s.value_depth, words(to.values));
  else pack_bf16_panels(value.data, v.row, 1, count, s.value_depth, words(to.values));
}

namespace {

/// Where they lie, or in memory of queries_size().
Queries levels_of_queries(const AttentionShape& s, const HeadView& q, i64 count, float* memory) {
  const auto row = u8_words(s.depth);
  Queries to{.rounded = words(memory), .row = row};
  if (q.levels && s.depth % 4 == 0 && q.row % 4 == 0 && reinterpret_cast<std::uintptr_t>(q.levels) % sizeof(Word) == 0)
    to = {.rounded = reinterpret_cast<const Word*>(q.levels), .row = q.row / 4};
  else rows_to_levels(level_rows(q), s.depth, count, s.q_levels, words(memory));
  if (const auto offset = s.k_levels.offset + 128; offset != 0) {
    auto* added = memory + kQueries * row;
    add_up_levels(to.rounded, to.row, s.depth, count, offset, added);
    to.added = added;
  }
  return to;
}

/// No level stands for more steps.
float most_steps(const LevelLine& levels) {
  return std::max(std::abs(levels.offset), std::abs(levels.max_level + levels.offset));
}

}  // namespace

Queries queries(const AttentionShape& s, const HeadView& q, i64 count, float* memory) {
  if (s.turned) {
    isa().transpose(q.data, q.column, memory, s.depth, s.depth, count);
    auto shape = s;
    shape.turned = false;
    return queries(shape, {.data = memory, .row = s.depth}, count, memory + kQueries * s.depth);
  }
  if (s.level_scores) return levels_of_queries(s, q, count, memory);
  if (!s.bf16) return {.wide = q.data, .row = q.row};
  if (q.narrow && is_words(q.narrow, q.row, s.depth))
    return {.rounded = reinterpret_cast<const Word*>(q.narrow), .row = q.row / 2};
  const auto row = bf16_words(s.depth);
  for (i64 i = 0; i < count; ++i) {
    auto* to = words(memory) + i * row;
    if (q.narrow) copy_words(q.narrow + i * q.row, s.depth, to);
    else if (s.depth % 2 == 1) to[row - 1] = 0;
  }
  if (q.data)
    narrow_isa().rows_to_bf16(q.data, q.row, reinterpret_cast<std::uint16_t*>(memory), 2 * row, count, s.depth);
  return {.rounded = words(memory), .row = row};
}

float score_bound(const AttentionShape& s, const PackedHead& head, const Queries& q, i64 count) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity(), kRounding = 1.01F;
  if (!head.squares) return kInfinity;
  float keys = 0, query = 0;
  for (i64 block = 0; block < blocks_of(s); ++block) {
    const auto& squares = head.squares[block];
    if (!(squares.keys < kInfinity && squares.values < kInfinity)) return kInfinity;
    keys += squares.keys;
  }
  if (s.level_scores)
    return std::abs(s.scale) * most_steps(s.q_levels) * most_steps(s.k_levels) * static_cast<float>(s.depth) *
           kRounding;
  for (i64 i = 0; i < count; ++i) {
    const auto square = isa().deviation(q.wide + i * q.row, 0, s.depth);
    if (!(square < kInfinity)) return kInfinity;
    query = std::max(query, square);
  }
  return std::abs(s.scale) * std::sqrt(query) * std::sqrt(keys) * kRounding;
}

void multiply_keys(const AttentionShape& s, const Queries& q, i64 count, const float* packed, KeyRange keys,
                   float* scores, i64 row) {
  if (s.level_scores)
    return multiply_levels({.rows = q.rounded,
                            .row = q.row,
                            .panels = words(packed) + keys.begin / kColumns * level_panel_size(s.depth),
                            .k = s.depth,
                            .n = keys.count(),
                            .first = 0,
                            .steps = s.depth,
                            .scale = 1,
                            .added = q.added,
                            .out = scores,
                            .out_row = row},
                           count);
  if (s.bf16)
    return multiply(q.rounded, q.row, count, Bf16Panels{words(packed), s.depth, keys.end},
                    {.wide = scores, .pixel = row}, false);
  const Panels panels{packed + keys.begin * s.depth, s.depth, keys.count()};
  multiply(q.wide, q.row, count, panels, 0, s.depth, scores, row, false);
}

void multiply_values(const AttentionShape& s, const float* probabilities, i64 row, i64 count, const float* packed,
                     i64 block, KeyRange keys, const Bf16Place& out, bool add) {
  if (s.level_values) {
    float added[kQueries];
    const auto offset = s.v_levels.offset + 128;
    if (offset != 0) add_up_levels(words(probabilities), row, keys.count(), count, offset, added);
    return multiply_levels({.rows = words(probabilities),
                            .row = row,
                            .panels = words(packed),
                            .k = block,
                            .n = s.value_depth,
                            .first = keys.begin,
                            .steps = keys.count(),
                            .scale = s.value_scale,
                            .added = offset != 0 ? added : nullptr,
                            .out = out.wide,
                            .out_row = out.pixel},
                           count);
  }
  if (s.bf16)
    return multiply(words(probabilities), row, count, Bf16Panels{words(packed), block, s.value_depth}, out, add);
  const Panels panels{packed, block, s.value_depth};
  multiply(probabilities, row, count, panels, keys.begin, keys.count(), out.wide, out.pixel, add);
}

}  // namespace ovir::fast
