// Attention of a few queries, as when words are made one by one: keys and values are read where they lie.
#pragma once
#include <span>

#include "fast/kernels/attention/attention.hpp"
#include "fast/kernels/chunks.hpp"

namespace ovir::fast {

/// One of a few queries, of a head; what it reads and writes is f32, columns side by side.
struct Few {
  const float* q;
  MaskView mask;
  i64 query;
  float scale;
  float* out;
};
/// The most that are computed together.
inline constexpr i64 kMostFew = 16;

/// Floats of scores that each has.
inline i64 few_row(const AttentionShape& s) { return round_up(s.keys, kBlock); }

/// Queries of heads that share keys and values, which are read once: some stay in the first-level cache for all.
void attend_few(const AttentionShape& s, std::span<const Few> few, const HeadView& k, const HeadView& v, float* scores);

}  // namespace ovir::fast
