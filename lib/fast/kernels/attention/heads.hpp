// A head of attention: its keys and values, packed, and the queries that are multiplied by them.
#pragma once
#include "fast/kernels/attention/visible_keys.hpp"
#include "fast/kernels/chunks.hpp"
#include "fast/kernels/product/bf16.hpp"
#include "fast/kernels/product/packed.hpp"

namespace ovir::fast {

inline constexpr i64 kQueries = 28;  // of a chunk: two tiles of the widest loops
inline constexpr i64 kKeys = 512;    // whose scores are there at once

/// Keys of a block: where probabilities become levels all, because these want the whole sum.
inline i64 block_keys(const AttentionShape& s) { return s.level_values ? round_up(s.keys, kColumns) : kKeys; }

inline Word* words(float* p) { return reinterpret_cast<Word*>(p); }
inline const Word* words(const float* p) { return reinterpret_cast<const Word*>(p); }

/// The squares of all keys of a block together, and of its values.
struct Squares {
  float keys, values;
};

/// Keys and values of a head, and of each block its squares, where keys may be left out; else null.
struct PackedHead {
  float *keys, *values;
  Squares* squares;
  /// What belongs to key k0 on, a multiple of block_keys().
  PackedHead from(const AttentionShape& s, i64 k0) const;
};
/// Floats that a packed head takes.
i64 packed_head_size(const AttentionShape& s);
/// Laid out in so many floats; `hides`: keys may be left out.
PackedHead packed_head(const AttentionShape& s, bool hides, float* memory);

/// Packs keys [k0, k0 + count), at most block_keys(), of a head.
void pack_keys(const AttentionShape& s, const HeadView& k, const HeadView& v, i64 k0, i64 count,
               const PackedHead& head);

/// Queries as the products read them: f32, where they lie unless they are turned, or words of bf16 or levels.
struct Queries {
  const float* wide = nullptr;
  const Word* rounded = nullptr;
  i64 row = 0;                   ///< in floats or words
  const float* added = nullptr;  ///< what the keys' offset adds to the sums of each, if anything
};
/// The first `count` of them; `memory` is for what must be made.
Queries queries(const AttentionShape& s, const HeadView& q, i64 count, float* memory);
/// No score of theirs is further from 0, before it is masked. Not finite where a key, a value or a query is not.
float score_bound(const AttentionShape& s, const PackedHead& head, const Queries& q, i64 count);
inline i64 queries_size(const AttentionShape& s) {
  const auto words = s.bf16 ? bf16_words(s.depth) : s.level_scores ? u8_words(s.depth) + 1 : 0;
  return kQueries * ((s.turned ? s.depth : 0) + words);
}

/// Scores of `count` queries with some keys of a block of packed ones, `row` floats apart: columns up to the end of a
/// panel. In bf16 the keys begin with the block's.
void multiply_keys(const AttentionShape& s, const Queries& q, i64 count, const float* packed, KeyRange keys,
                   float* scores, i64 row);
/// Sums of the values of some keys in a block of `block` packed ones, times their probabilities, which are `row` apart,
/// and their roundings likewise in words. Columns of the output are rounded up to panels'; `add`: to what is there in
/// f32. In bf16 the keys are all of the block. Of levels the probabilities are such, with rows `row` words apart, and
/// nothing is added to.
void multiply_values(const AttentionShape& s, const float* probabilities, i64 row, i64 count, const float* packed,
                     i64 block, KeyRange keys, const Bf16Place& out, bool add);

}  // namespace ovir::fast
