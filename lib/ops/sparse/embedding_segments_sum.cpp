// EmbeddingSegmentsSum: sums of embeddings; each index says which segment it belongs to.
// Spec: operation-sets/operation-specs/sparse/embedding-segments-sum-3
#include "ops/sparse/common.hpp"

namespace ovir::ops::embedding_segments_sum {
namespace {

using namespace sparse;

enum Input { emb_table, indices, segment_ids, num_segments };

void infer(InferContext& c) {
  c.require_rank(num_segments, 0);
  c.require_rank(indices, 1);
  c.require_rank(segment_ids, 1);
  c.require_same_shape(indices, segment_ids);
  Dim segments;
  if (const auto count = c.require_at_least(num_segments, 0); count && count->size() == 1)
    segments = count->front().to_dim();
  infer_bags(c, kSegmentBags, segments);
}

void eval(EvalContext& c) {
  const auto ids = c.ints(segment_ids);
  const auto count = c.scalar_int(num_segments);
  // "Values should be sorted"; what lies beyond the last segment belongs to none.
  const auto bag = [&ids](i64 segment) {
    const auto [first, last] = std::equal_range(ids.begin(), ids.end(), segment);
    return BagRange{first - ids.begin(), last - ids.begin()};
  };
  reduce_bags(c, kSegmentBags, count, bag, BagReduction::sum);
}

constexpr PortDef kInputs[] = {{"emb_table", T},
                               kIndices,
                               {"segment_ids", TIndex},
                               {"num_segments", TIndex},
                               {"default_index", TIndex, Arity::optional},
                               {"per_sample_weights", T, Arity::optional}};
constexpr Version kVersions[] = {
    {.since = 3,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs>,
     .infer = infer,
     .reads = ports(num_segments),
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{
    .type = "EmbeddingSegmentsSum", .spec = "sparse/embedding-segments-sum", .versions = kVersions};

}  // namespace ovir::ops::embedding_segments_sum
