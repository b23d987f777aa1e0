// EmbeddingBagPacked: sums or means of embeddings; each row of indices is a bag.
// Spec: operation-sets/operation-specs/sparse/embedding-bag-packed-15
#include "ops/sparse/common.hpp"

namespace ovir::ops::embedding_bag_packed {
namespace {

using namespace sparse;

constexpr Version kVersions[] = {
    {.since = 15,
     .inputs = kPackedInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"reduction", &Attrs::reduction>>,
     .infer = infer_packed,
     .eval = reduce_packed},
};

}  // namespace

extern constinit const OpDef def{
    .type = "EmbeddingBagPacked", .spec = "sparse/embedding-bag-packed", .versions = kVersions};

}  // namespace ovir::ops::embedding_bag_packed
