// EmbeddingBagOffsetsSum: sums of embeddings; where each bag of indices begins is said by offsets.
// Spec: operation-sets/operation-specs/sparse/embedding-bag-offsets-sum-3
#include "ops/sparse/common.hpp"

namespace ovir::ops::embedding_bag_offsets_sum {
namespace {

using namespace sparse;

constexpr Version kVersions[] = {
    {.since = 3,
     .inputs = kOffsetsInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs>,
     .infer = infer_offsets,
     .eval = reduce_offsets},
};

}  // namespace

extern constinit const OpDef def{
    .type = "EmbeddingBagOffsetsSum", .spec = "sparse/embedding-bag-offsets-sum", .versions = kVersions};

}  // namespace ovir::ops::embedding_bag_offsets_sum
