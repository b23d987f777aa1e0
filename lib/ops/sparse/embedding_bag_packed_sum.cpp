// EmbeddingBagPackedSum: sums of embeddings; each row of indices is a bag.
// Spec: operation-sets/operation-specs/sparse/embedding-bag-packed-sum-3
#include "ops/sparse/common.hpp"

namespace ovir::ops::embedding_bag_packed_sum {
namespace {

using namespace sparse;

constexpr Version kVersions[] = {
    {.since = 3,
     .inputs = kPackedInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs>,
     .infer = infer_packed,
     .eval = reduce_packed},
};

}  // namespace

extern constinit const OpDef def{
    .type = "EmbeddingBagPackedSum", .spec = "sparse/embedding-bag-packed-sum", .versions = kVersions};

}  // namespace ovir::ops::embedding_bag_packed_sum
