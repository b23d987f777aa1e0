// Embedding bags: rows of a table, gathered by indices and reduced bag by bag.
#pragma once
#include <functional>

#include "op/kit/embedding_bags.hpp"
#include "op/op.hpp"

namespace ovir::ops::sparse {

using Attrs = BagAttrs;

/// Judges table, indices, weights and default index; gives the output for a number of bags.
void infer_bags(InferContext& c, const BagInputs& inputs, const Dim& bags);

/// output[b] = Σ weights[i] · table[indices[i]] over i in bag(b), for b below `count`; an empty bag takes the row of
/// the default index, or zeros.
void reduce_bags(EvalContext& c, const BagInputs& inputs, i64 count, const std::function<BagRange(i64)>& bag,
                 BagReduction reduction);

inline constexpr TypeVar T{"T", kNumeric}, TIndex{"T_IND", kIndex};
inline constexpr PortDef kOutputs[] = {{"output", T}};
/// Rows of emb_table, which is input 0 of all.
inline constexpr PortDef kIndices = {
    .name = "indices", .type = TIndex, .indexes = {.along = Indexes::Along::axis, .data = 0, .at = 0}};

/// EmbeddingBagOffsets and EmbeddingBagOffsetsSum: where each bag of indices begins is said by offsets.
inline constexpr PortDef kOffsetsInputs[] = {{"emb_table", T},
                                             kIndices,
                                             {"offsets", TIndex},
                                             {"default_index", TIndex, Arity::optional},
                                             {"per_sample_weights", T, Arity::optional}};
void infer_offsets(InferContext& c);
void reduce_offsets(EvalContext& c);

/// EmbeddingBagPacked and EmbeddingBagPackedSum: each row of indices is a bag.
inline constexpr PortDef kPackedInputs[] = {{"emb_table", T}, kIndices, {"per_sample_weights", T, Arity::optional}};
void infer_packed(InferContext& c);
void reduce_packed(EvalContext& c);

}  // namespace ovir::ops::sparse
