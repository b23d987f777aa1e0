// EmbeddingBagOffsets: sums or means of embeddings; where each bag of indices begins is said by offsets.
// Spec: operation-sets/operation-specs/sparse/embedding-bag-offsets-15
#include "ops/sparse/common.hpp"

namespace ovir::ops::embedding_bag_offsets {
namespace {

using namespace sparse;

constexpr Version kVersions[] = {
    {.since = 15,
     .inputs = kOffsetsInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"reduction", &Attrs::reduction>>,
     .infer = infer_offsets,
     .eval = reduce_offsets},
};

}  // namespace

extern constinit const OpDef def{
    .type = "EmbeddingBagOffsets", .spec = "sparse/embedding-bag-offsets", .versions = kVersions};

}  // namespace ovir::ops::embedding_bag_offsets
