// Attention: softmax(scale · Q·Kᵀ + mask) · V, by blocks of queries and keys, so that scores stay in the cache.
#pragma once
#include "base/int.hpp"
#include "fast/isa/table.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// A [batch][heads][rows][columns] operand that may lie in any order: strides in floats.
struct HeadView {
  const float* data = nullptr;
  i64 batch = 0, head = 0, row = 0, column = 1;
};

/// What a query sees of the keys: f32 numbers that are added to the scaled scores, or bytes that are 0 where a key is
/// hidden. Strides are 0 where it is broadcast; neither where there is no mask.
struct MaskView {
  const float* added = nullptr;
  const unsigned char* seen = nullptr;
  i64 batch = 0, head = 0, row = 0, column = 1;

  /// From a query on.
  MaskView at(i64 b, i64 h, i64 query) const {
    auto m = *this;
    const auto offset = b * batch + h * head + query * row;
    if (added) m.added += offset;
    if (seen) m.seen += offset;
    return m;
  }
};

struct AttentionShape {
  i64 batch = 1, heads = 1;
  i64 kv_heads = 1;  ///< heads / kv_heads queries' heads share one of keys and values
  i64 queries = 0, keys = 0;
  i64 depth = 0;  ///< of queries and keys
  i64 value_depth = 0;
  float scale = 1;
  bool causal = false;  ///< query i sees the keys 0 … i
  bool bf16 = false;    ///< queries, keys, probabilities and values are rounded to it; sums are f32
};

/// Floats. `side_by_side`: the columns of k lie so.
i64 attention_scratch_size(const AttentionShape& shape, bool side_by_side, int threads);

/// The output is `result`, in the order of `out`, whose data is not used. Columns of q, v and out lie side by side; k
/// may be transposed. A query that sees no key gets NaN.
void attention(const AttentionShape& shape, const HeadView& q, const HeadView& k, const HeadView& v,
               const MaskView& mask, const HeadView& out, float* result, float* scratch, ThreadPool& pool);

}  // namespace ovir::fast
