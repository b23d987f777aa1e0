// Constants: their bytes in the .bin.
#pragma once
#include <vector>

#include "diag/diagnostic.hpp"
#include "model/model.hpp"

namespace ovir::passes {

/// A Constant's value: a view of the mapped .bin. Throws Failure (E03xx, E04xx).
/// Empty, without a fault, where the weights were left out.
Tensor constant_value(const Graph& graph, const Node& node);
/// Constants beyond the end of a truncated .bin; `d` becomes one diagnostic for all of them. Empty where there are
/// fewer than two, or where they lie elsewhere than at its end.
std::vector<const Layer*> cut_off_constants(const Model& model, Diagnostic& d);
/// W0903: constants of the model and its bodies that overlap in part (sharing one range is usual and legal).
void warn_overlapping_constants(const Model& model, Diagnostics& diagnostics);

}  // namespace ovir::passes
