// Embedding bags: rows of a table, gathered by indices and reduced bag by bag.
#pragma once
#include <functional>

#include "op/op.hpp"

namespace ovir::ops::sparse {

enum class Reduction : std::uint8_t { sum, mean };
constexpr auto words(Reduction) {
  return std::to_array<Word<Reduction>>({{"sum", Reduction::sum}, {"mean", Reduction::mean}});
}

struct Attrs {
  Reduction reduction = Reduction::sum;
};

/// Where an operation has its inputs; `segments` is what tells the bags apart, -1 where each row of indices is a bag.
struct BagInputs {
  int table = 0, indices = 1, segments = -1, default_index = -1, weights = -1;
};

/// Judges table, indices, weights and default index; gives the output for a number of bags.
void infer_bags(InferContext& c, const BagInputs& inputs, const Dim& bags);

/// A bag as a half-open range of indices.
struct Bag {
  i64 first, last;
};
/// output[b] = Σ weights[i] · table[indices[i]] over i in bag(b), for b below `count`; an empty bag takes the row of
/// the default index, or zeros.
void reduce_bags(EvalContext& c, const BagInputs& inputs, i64 count, const std::function<Bag(i64)>& bag,
                 Reduction reduction);

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
