#include "fast/kernels/attention/attention.hpp"

#include <cmath>
#include <limits>

#include "fast/kernels/chunks.hpp"
#include "fast/kernels/epilogue.hpp"
#include "fast/kernels/product/bf16.hpp"
#include "fast/kernels/product/packed.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kQueries = 28;  // of a chunk: two tiles of the widest loops
constexpr i64 kKeys = 512;    // whose scores are there at once

/// Floats of a chunk's own memory: scores, and sums of values where they cannot be in the output yet; in bf16 queries
/// and probabilities, too.
i64 chunk_size(const AttentionShape& s) {
  const auto wide = kQueries * (kKeys + round_up(s.value_depth, kColumns));
  return s.bf16 ? wide + kQueries * (bf16_words(s.depth) + kKeys / 2) : wide;
}

/// c[m][n] (+)= a · panels, columns rounded up to whole panels' in c.
void multiply(const IsaTable& table, const float* a, i64 a_row, i64 m, const Panels& b, float* c, i64 c_row, bool add) {
  const auto tiles = ceil_div(m, table.pixels);
  for (i64 panel = 0; panel < b.count(); ++panel)
    for (i64 i = 0; i < tiles; ++i) {
      const Part part(m, tiles, i);
      Tile tile{};
      tile.in = a + part.begin * a_row;
      tile.pixel = a_row;
      tile.taps = kOneTap;
      tile.blocks = tile.tap_count = 1;
      tile.steps = b.k;
      tile.weights = b.panel(panel);
      tile.out = c + part.begin * c_row + panel * kColumns;
      tile.out_pixel = c_row;
      tile.out_block = kBlock;
      begin(tile, {}, 0, add ? tile.out : nullptr, c_row, kBlock);
      table.packed(tile, static_cast<int>(part.size()), static_cast<int>(b.columns(panel)));
    }
}

/// The same in bf16.
void multiply(const NarrowTable& table, const Word* a, i64 a_row, i64 m, const Bf16Panels& b, float* c, i64 c_row,
              bool add) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto tiles = ceil_div(m, table.pixels);
  for (i64 panel = 0; panel < b.count(); ++panel)
    for (i64 i = 0; i < tiles; ++i) {
      const Part part(m, tiles, i);
      float* out = c + part.begin * c_row + panel * kColumns;
      table.bf16({.sum = b.sum(a + part.begin * a_row, a_row, panel, nullptr),
                  .wide_residual = add ? out : nullptr,
                  .residual_pixel = c_row,
                  .residual_block = kBlock,
                  .low = -kInfinity,
                  .high = kInfinity,
                  .wide = out,
                  .out_pixel = c_row,
                  .out_block = kBlock},
                 static_cast<int>(part.size()));
    }
}

/// Keys in blocks of kKeys, each packed by itself.
i64 packed_keys_size(const AttentionShape& s) {
  return s.bf16 ? round_up(s.keys, kColumns) * bf16_words(s.depth) : round_up(s.keys, kBlock) * s.depth;
}
i64 packed_values_size(const AttentionShape& s) {
  return s.bf16 ? bf16_words(s.keys) * round_up(s.value_depth, kColumns) : s.keys * round_up(s.value_depth, kBlock);
}
/// Where those of key k0 on lie.
i64 keys_from(const AttentionShape& s, i64 k0) { return k0 * (s.bf16 ? bf16_words(s.depth) : s.depth); }
i64 values_from(const AttentionShape& s, i64 k0) {
  return s.bf16 ? k0 / 2 * round_up(s.value_depth, kColumns) : k0 * round_up(s.value_depth, kBlock);
}

Word* words(float* p) { return reinterpret_cast<Word*>(p); }
const Word* words(const float* p) { return reinterpret_cast<const Word*>(p); }

/// A row of n numbers as words of bf16.
void round_row(const float* x, i64 n, Word* to) {
  if (n % 2 == 1) to[n / 2] = 0;
  narrow_isa().to_bf16(x, reinterpret_cast<std::uint16_t*>(to), n);
}

/// Scores of one query, from key `first` on.
void hide(const IsaTable& table, const MaskView& mask, i64 first, float* scores, i64 count) {
  static constexpr float kHidden = -std::numeric_limits<float>::infinity();
  const auto offset = first * mask.column;
  if (mask.added) table.binary(Binary::add, scores, 1, mask.added + offset, mask.column, scores, count);
  if (mask.seen) table.select(mask.seen + offset, mask.column, scores, 1, &kHidden, 0, scores, count);
}

struct Job {
  const IsaTable& table;
  const AttentionShape& s;
  const float *keys, *values;  // of this head, packed
  i64 sums_row;

  /// The highest score of a query, from key `first` on. Scores are masked and scaled but for `scale`, which is left.
  float highest(const MaskView& mask, i64 first, float* scores, i64 count, float scale) const {
    if (mask.added && !mask.seen)
      return table.scale_add(scores, s.scale, mask.added + first * mask.column, mask.column, scores, count);
    if (scale != s.scale) table.unary({Function::linear, s.scale, 0}, scores, scores, count);
    hide(table, mask, first, scores, count);
    return table.maximum(scores, count) * scale;
  }

  /// Scores of `count` queries with keys [k0, k0 + here).
  void multiply_keys(const float* q, i64 q_row, const Word* rounded, i64 count, i64 k0, i64 here, float* scores) const {
    const auto* from = keys + keys_from(s, k0);
    if (s.bf16)
      multiply(narrow_isa(), rounded, bf16_words(s.depth), count, Bf16Panels{words(from), s.depth, here}, scores, kKeys,
               false);
    else multiply(table, q, q_row, count, Panels{from, s.depth, here}, scores, kKeys, false);
  }
  /// Adds values of these keys, times their probabilities, to the sums.
  void multiply_values(const float* scores, Word* rounded, i64 count, i64 k0, i64 here, float* sums) const {
    const auto* from = values + values_from(s, k0);
    if (!s.bf16)
      return multiply(table, scores, kKeys, count, Panels{from, here, s.value_depth}, sums, sums_row, k0 > 0);
    for (i64 i = 0; i < count; ++i) round_row(scores + i * kKeys, here, rounded + i * kKeys / 2);
    multiply(narrow_isa(), rounded, kKeys / 2, count, Bf16Panels{words(from), here, s.value_depth}, sums, sums_row,
             k0 > 0);
  }

  /// Queries [first, first + count).
  void run(const float* q, i64 q_row, const MaskView& mask, i64 first, i64 count, float* out, i64 out_row,
           float* scores) const {
    float* sums = scores + kQueries * kKeys;
    auto *probabilities = words(sums + kQueries * sums_row), *queries = probabilities + kQueries * kKeys / 2;
    for (i64 i = 0; s.bf16 && i < count; ++i) round_row(q + i * q_row, s.depth, queries + i * bf16_words(s.depth));
    float max[kQueries], total[kQueries];
    std::fill_n(max, count, -std::numeric_limits<float>::infinity());
    std::fill_n(total, count, 0.0f);
    const bool masked = mask.added || mask.seen;
    // What is left of the scale where the exponential is taken: without a mask all of it, which keeps the order.
    const auto scale = masked || s.scale < 0 ? 1.0f : s.scale;
    const auto visible = s.causal ? std::min(s.keys, first + count) : s.keys;
    for (i64 k0 = 0; k0 < visible; k0 += kKeys) {
      const auto here = std::min(kKeys, s.keys - k0);
      multiply_keys(q, q_row, queries, count, k0, here, scores);
      for (i64 i = 0; i < count; ++i) {
        float* row = scores + i * kKeys;
        const auto seen = s.causal ? std::clamp<i64>(first + i + 1 - k0, 0, here) : here;
        if (seen < here) std::fill_n(row + seen, here - seen, 0.0f);
        if (seen == 0) continue;
        const auto before = max[i];
        max[i] = std::max(before, highest(mask.at(0, 0, i), k0, row, seen, scale));
        // max() keeps `before` where the other is NaN; the sum below is NaN then all the same.
        if (max[i] == -std::numeric_limits<float>::infinity()) {
          std::fill_n(row, seen, 0.0f);
          continue;
        }
        const auto sum = table.exp_sum(row, scale, max[i], row, seen);
        if (before < max[i] && k0 > 0) {
          const auto less = std::exp(before - max[i]);
          total[i] *= less;
          table.binary(Binary::multiply, sums + i * sums_row, 1, &less, 0, sums + i * sums_row, sums_row);
        }
        total[i] += sum;
      }
      multiply_values(scores, probabilities, count, k0, here, sums);
    }
    for (i64 i = 0; i < count; ++i) {
      const auto less = 1 / total[i];
      table.binary(Binary::multiply, sums + i * sums_row, 1, &less, 0, out + i * out_row, s.value_depth);
    }
  }
};

/// A few queries: keys and values are read once, where they lie.
void few(const IsaTable& table, const AttentionShape& s, const float* q, const HeadView& k, const float* keys,
         const HeadView& v, const float* values, const MaskView& mask, i64 query, float* out, float* scores) {
  const auto seen = s.causal ? std::min(s.keys, query + 1) : s.keys;
  for (i64 j = 0; j < seen; ++j) scores[j] = table.dot(q, keys + j * k.row, s.depth);
  table.unary({Function::linear, s.scale, 0}, scores, scores, seen);
  hide(table, mask, 0, scores, seen);
  const auto sum = table.exp_sum(scores, 1, table.maximum(scores, seen), scores, seen), scale = 1 / sum;
  std::fill_n(out, s.value_depth, 0.0f);
  for (i64 j = 0; j < seen; ++j) table.axpy(scores[j], values + j * v.row, 1, out, s.value_depth);
  table.binary(Binary::multiply, out, 1, &scale, 0, out, s.value_depth);
}

/// Then packing keys and values would cost more than it saves.
bool reads_in_place(const AttentionShape& s) { return s.queries <= 4; }

}  // namespace

i64 attention_scratch_size(const AttentionShape& s, bool side_by_side, int threads) {
  if (reads_in_place(s) && side_by_side) return threads * round_up(s.keys, kBlock);
  return s.batch * s.kv_heads * (packed_keys_size(s) + packed_values_size(s)) + threads * chunk_size(s);
}

void attention(const AttentionShape& s, const HeadView& q, const HeadView& k, const HeadView& v, const MaskView& mask,
               const HeadView& out, float* result, float* scratch, ThreadPool& pool) {
  if (s.batch * s.heads * s.queries * s.value_depth == 0) return;
  const auto& table = isa();
  const auto shared = s.heads / s.kv_heads;
  const auto at = [](const HeadView& view, i64 batch, i64 head) {
    return view.data ? view.data + batch * view.batch + head * view.head : nullptr;
  };
  const auto key_cost = static_cast<double>(s.keys * (s.depth + s.value_depth));
  if (reads_in_place(s) && k.column == 1) {
    Slots slots(scratch, round_up(s.keys, kBlock), slots_for(pool));
    return parallel_ranges(pool, s.batch * s.heads * s.queries, key_cost / 8, [&](i64 begin, i64 end) {
      const Slots::Lease room(slots);
      for (auto i = begin; i < end; ++i) {
        const auto query = i % s.queries, head = i / s.queries % s.heads, batch = i / s.queries / s.heads;
        few(table, s, at(q, batch, head) + query * q.row, k, at(k, batch, head / shared), v,
            at(v, batch, head / shared), mask.at(batch, head, query), query,
            result + batch * out.batch + head * out.head + query * out.row, room.data());
      }
    });
  }
  const auto keys_size = packed_keys_size(s), values_size = packed_values_size(s), blocks = ceil_div(s.keys, kKeys),
             pairs = s.batch * s.kv_heads, parts = ceil_div(s.queries, kQueries);
  // Keys and values of a head, `block` of them.
  const auto pack = [&](i64 pair, i64 block, float* keys, float* values) {
    const auto batch = pair / s.kv_heads, head = pair % s.kv_heads;
    const auto k0 = block * kKeys, here = std::min(kKeys, s.keys - k0);
    const auto *k_from = at(k, batch, head) + k0 * k.row, *v_from = at(v, batch, head) + k0 * v.row;
    keys += keys_from(s, k0);
    values += values_from(s, k0);
    if (s.bf16) {
      pack_bf16_panels(k_from, k.column, k.row, s.depth, here, words(keys));
      pack_bf16_panels(v_from, v.row, 1, here, s.value_depth, words(values));
    } else {
      pack_panels(k_from, k.column, k.row, s.depth, here, 0, ceil_div(here, kColumns), keys);
      pack_panels(v_from, v.row, 1, here, s.value_depth, 0, ceil_div(s.value_depth, kColumns), values);
    }
  };
  const auto run = [&](i64 batch, i64 head, i64 i, const float* keys, const float* values, float* scores) {
    const Part part(s.queries, parts, i);
    const Job job{table, s, keys, values, round_up(s.value_depth, kColumns)};
    job.run(at(q, batch, head) + part.begin * q.row, q.row, mask.at(batch, head, part.begin), part.begin, part.size(),
            result + batch * out.batch + head * out.head + part.begin * out.row, out.row, scores);
  };
  if (pairs % pool.threads() == 0 || pairs >= 4 * pool.threads()) {
    // Heads enough for all threads: each packs what it uses.
    Slots slots(scratch, keys_size + values_size + chunk_size(s), slots_for(pool));
    return parallel_ranges(
        pool, pairs, static_cast<double>(s.queries * shared) * key_cost / 40 + 500, [&](i64 begin, i64 end) {
          const Slots::Lease room(slots);
          float *keys = room.data(), *values = keys + keys_size, *scores = values + values_size;
          for (auto pair = begin; pair < end; ++pair) {
            for (i64 block = 0; block < blocks; ++block) pack(pair, block, keys, values);
            for (i64 j = 0; j < shared * parts; ++j)
              run(pair / s.kv_heads, pair % s.kv_heads * shared + j / parts, j % parts, keys, values, scores);
          }
        });
  }
  float *keys = scratch, *values = keys + pairs * keys_size, *own = values + pairs * values_size;
  parallel_ranges(pool, pairs * blocks, key_cost / static_cast<double>(blocks) / 4, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto pair = i / blocks;
      pack(pair, i % blocks, keys + pair * keys_size, values + pair * values_size);
    }
  });
  Slots slots(own, chunk_size(s), slots_for(pool));
  parallel(pool, s.batch * s.heads * parts, [&](i64 chunk) {
    const auto head = chunk / parts % s.heads, batch = chunk / parts / s.heads;
    const auto pair = batch * s.kv_heads + head / shared;
    const Slots::Lease room(slots);
    run(batch, head, chunk % parts, keys + pair * keys_size, values + pair * values_size, room.data());
  });
}

}  // namespace ovir::fast
