// EmbeddingBagOffsets: sums or means of embeddings; where each bag of indices begins is said by offsets.
// Spec: operation-sets/operation-specs/sparse/embedding-bag-offsets-15
#include "ops/sparse/common.hpp"

namespace ovir::ops::embedding_bag_offsets {
namespace {

using namespace sparse;

enum Input { emb_table, indices, offsets, default_index, per_sample_weights };
constexpr Ports kPorts{emb_table, indices, offsets, default_index, per_sample_weights};

void infer(InferContext& c) { infer_bags(c, kPorts, axis_count(c.shape(offsets))); }

void eval(EvalContext& c) {
  const auto starts = c.ints(offsets);
  const auto count = c.in(indices).size();
  const auto bag = [&](std::int64_t b) {
    const auto at = static_cast<std::size_t>(b);
    const Bag range{starts[at], at + 1 < starts.size() ? starts[at + 1] : count};
    if (range.first < 0 || range.first > count || range.last > count)
      fail(Code::E0508, "a bag of the indices [{}, {}) is asked for, but there are {} indices", range.first, range.last, count);
    return range;
  };
  reduce_bags(c, kPorts, static_cast<std::int64_t>(starts.size()), bag, c.attrs<Attrs>().reduction);
}

constexpr PortDef kInputs[] = {{"emb_table", T},
                               {"indices", TIndex},
                               {"offsets", TIndex},
                               {"default_index", TIndex, Arity::optional},
                               {"per_sample_weights", T, Arity::optional}};
constexpr Version kVersions[] = {
    {.since = 15,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"reduction", &Attrs::reduction>>,
     .infer = infer,
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "EmbeddingBagOffsets", .versions = kVersions};

}  // namespace ovir::ops::embedding_bag_offsets
