// Embedding bags: rows of a table, gathered by indices and reduced bag by bag.
#pragma once
#include "op/op.hpp"

namespace ovir::ops::sparse {

enum class Reduction : std::uint8_t { sum, mean };

struct Attrs {
  Reduction reduction = Reduction::sum;
};

/// Where an operation has its inputs; `segments` is what tells the bags apart, -1 where each row of indices is a bag.
struct Ports {
  int table = 0, indices = 1, segments = -1, default_index = -1, weights = -1;
};

/// Judges table, indices, weights and default index; gives the output for a number of bags.
void infer_bags(InferContext& c, const Ports& ports, const Dim& bags);

/// output[b] = Σ weights[i] · table[indices[i]] over i in bags[b] (a half-open range); an empty bag takes the row of
/// the default index, or zeros.
void reduce_bags(EvalContext& c, const Ports& ports, const std::vector<std::pair<std::int64_t, std::int64_t>>& bags, Reduction reduction);

inline constexpr TypeVar T{"T", kNumeric}, TIndex{"T_IND", kIndex};
inline constexpr PortDef kOutputs[] = {{"output", T}};

}  // namespace ovir::ops::sparse

template <>
struct ovir::EnumNames<ovir::ops::sparse::Reduction> {
  static constexpr std::pair<std::string_view, ops::sparse::Reduction> table[] = {{"sum", ops::sparse::Reduction::sum}, {"mean", ops::sparse::Reduction::mean}};
};
