// EmbeddingBagPacked: sums or means of embeddings; each row of indices is a bag.
// Spec: operation-sets/operation-specs/sparse/embedding-bag-packed-15
#include "ops/sparse/common.hpp"

namespace ovir::ops::embedding_bag_packed {
namespace {

using namespace sparse;

enum Input { emb_table, indices, per_sample_weights };
constexpr Ports kPorts{.table = emb_table, .indices = indices, .weights = per_sample_weights};

void infer(InferContext& c) { infer_bags(c, kPorts, c.shape(indices).has_rank() && c.shape(indices).rank() == 2 ? c.shape(indices)[0] : Dim()); }

void eval(EvalContext& c) {
  const auto size = c.in(indices).dim(1);
  reduce_bags(c, kPorts, c.in(indices).dim(0), [size](std::int64_t b) { return Bag{b * size, (b + 1) * size}; }, c.attrs<Attrs>().reduction);
}

constexpr PortDef kInputs[] = {{"emb_table", T}, {"indices", TIndex}, {"per_sample_weights", T, Arity::optional}};
constexpr Version kVersions[] = {
    {.since = 15,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"reduction", &Attrs::reduction>>,
     .infer = infer,
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "EmbeddingBagPacked", .versions = kVersions};

}  // namespace ovir::ops::embedding_bag_packed
