// Attention: softmax(scale · Q·Kᵀ + mask) · V, by blocks of queries and keys, so that scores stay in the cache.
#pragma once
#include <cstdint>
#include <limits>

#include "base/int.hpp"
#include "fast/isa/table.hpp"
#include "fast/kernels/product/level_panels.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// A [batch][heads][rows][columns] operand that may lie in any order: strides in elements, which are f32, or bf16 where
/// `narrow` says where they lie, or levels.
struct HeadView {
  const float* data = nullptr;
  i64 batch = 0, head = 0, row = 0, column = 1;
  const std::uint16_t* narrow = nullptr;
  const std::uint8_t* levels = nullptr;

  HeadView at(i64 b, i64 h) const { return moved(b * batch + h * head); }
  /// From row i on.
  HeadView from(i64 i) const { return moved(i * row); }

 private:
  HeadView moved(i64 offset) const {
    auto view = *this;
    if (data) view.data += offset;
    if (narrow) view.narrow += offset;
    if (levels) view.levels += offset;
    return view;
  }
};

/// Where the output lies: as HeadView, its columns side by side.
struct HeadPlace {
  float* wide = nullptr;
  std::uint16_t* narrow = nullptr;
  i64 batch = 0, head = 0, row = 0;

  HeadPlace at(i64 b, i64 h, i64 i) const {
    auto place = *this;
    const auto offset = b * batch + h * head + i * row;
    if (wide) place.wide += offset;
    if (narrow) place.narrow += offset;
    return place;
  }
};

/// Numbers that are added to the scores of keys which lie in a grid: by_row[key / columns] + by_column[key % columns].
struct KeyGrid {
  const float *by_row = nullptr, *by_column = nullptr;
  i64 rows = 0, columns = 0;
};

/// A score of each query beside those of the keys, which takes its share of the probabilities and has no value.
struct SinkView {
  const float* data = nullptr;  ///< null: there is none
  i64 batch = 0, head = 0, row = 0;

  SinkView at(i64 b, i64 h, i64 query) const {
    auto view = *this;
    if (data) view.data += b * batch + h * head + query * row;
    return view;
  }
  float of(i64 query) const { return data[query * row]; }
};

/// What a query sees of the keys: f32 numbers that are added to the scaled scores, or bytes that are 0 where a key is
/// hidden. Strides are 0 where it is broadcast; of a grid they count queries. Nothing where there is no mask.
struct MaskView {
  const float* added = nullptr;
  KeyGrid grid{};
  const unsigned char* seen = nullptr;
  bool hides = false;                                      ///< bytes are 0 where a key is seen
  float hidden = -std::numeric_limits<float>::infinity();  ///< the score of a key that is hidden
  i64 batch = 0, head = 0, row = 0, column = 1;
  const i64* kinds = nullptr;  ///< of each batch, whose mask it has; null: its own
  SinkView sink{};

  /// Scales scores of the keys from `first` on and adds what the grid says.
  void add_grid(float* scores, float scale, i64 first, i64 count) const {
    isa().scale_add_grid(scores, scale, grid.by_row, grid.by_column, grid.columns, first, count);
  }
  /// Scores of the keys from `first` on, of those that are hidden.
  void hide(float* scores, i64 first, i64 count) const {
    const auto* at = seen + first * column;
    if (hides) isa().select(at, column, &hidden, 0, scores, 1, scores, count);
    else isa().select(at, column, scores, 1, &hidden, 0, scores, count);
  }
  /// Whether a query sees none of so many keys.
  bool sees_none(i64 keys) const {
    unsigned char sees = 0;  // without a branch, so that it is computed in vectors
    for (i64 i = 0; i < keys; ++i) sees |= static_cast<unsigned char>((seen[i * column] != 0) != hides);
    return sees == 0;
  }
  /// From key k on: not of a grid.
  MaskView from(i64 k) const {
    auto m = *this;
    if (added) m.added += k * column;
    if (seen) m.seen += k * column;
    return m;
  }
  /// From a query on.
  MaskView at(i64 b, i64 h, i64 query) const {
    auto m = *this;
    const auto offset = (kinds ? kinds[b] : b) * batch + h * head + query * row;
    if (added) m.added += offset;
    if (grid.columns > 0) {
      m.grid.by_row += offset * grid.rows;
      m.grid.by_column += offset * grid.columns;
    }
    if (seen) m.seen += offset;
    m.sink = sink.at(b, h, query);
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
  bool causal = false;            ///< query i sees the keys 0 … i
  bool nan_is_zero = false;       ///< a query whose probabilities are NaN, as when it sees no key, gets zeros
  bool unseen_is_zero = false;    ///< a query of which a mask hides all keys gets zeros
  bool sunk = false;              ///< there are sinks
  bool turned = false;            ///< rows of queries lie side by side, not their columns, which must be f32
  bool bf16 = false;              ///< queries, keys, probabilities and values are rounded to it; sums are f32
  const float* scales = nullptr;  ///< instead of `scale`, one a head; null: none
  /// Queries and keys are levels, whose products are exact sums of integers: `scale` is that of steps.
  bool level_scores = false;
  LevelLine q_levels{}, k_levels{};
  /// Probabilities become levels, whose offset is 0, and values are levels: products of steps are `value_scale`.
  bool level_values = false;
  LevelLine p_levels{}, v_levels{};
  float value_scale = 1;
};

/// Whether a query gets zeros whose probabilities are NaN.
inline bool gives_zeros(const AttentionShape& shape, const MaskView& mask) {
  return shape.nan_is_zero || (shape.unseen_is_zero && mask.sees_none(shape.keys));
}

/// With the scale of a head.
inline AttentionShape of_head(const AttentionShape& shape, i64 head) {
  auto own = shape;
  if (shape.scales) own.scale = shape.scales[head];
  return own;
}

/// Floats. `plain`: all operands are f32, and the columns of q and k lie side by side.
i64 attention_scratch_size(const AttentionShape& shape, bool plain, int threads);

/// Columns of v and out lie side by side, those of q unless shape.turned; k may be transposed where it is f32. Only
/// with shape.bf16 may operands be bf16, only those that become levels may be such, with columns side by side. A query
/// that sees no key gets NaN.
void attention(const AttentionShape& shape, const HeadView& q, const HeadView& k, const HeadView& v,
               const MaskView& mask, const HeadPlace& out, float* scratch, ThreadPool& pool);

/// How many queries of all heads attention_alone() takes; 0: none, it is for attention() alone.
i64 attention_pieces(const AttentionShape& shape, bool plain, int threads);

/// As attention(), of the queries [begin, end) of attention_pieces() and by this thread alone: slot `thread` of
/// `scratch`, of attention_scratch_size(), is its own.
void attention_alone(const AttentionShape& shape, const HeadView& q, const HeadView& k, const HeadView& v,
                     const MaskView& mask, const HeadPlace& out, float* scratch, i64 begin, i64 end, int thread);

}  // namespace ovir::fast
