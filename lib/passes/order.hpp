// The order of a model's layers.
#pragma once
#include <utility>
#include <vector>

#include "diag/diagnostic.hpp"
#include "model/model.hpp"

namespace ovir::passes {

/// Layers in topological order, file order where that leaves a choice. `before`: pairs of layers of which the first has
/// to come first although no edge says so. Layers on or behind a cycle come last, and the cycle is reported.
std::vector<int> topological_order(const Model& model, const std::vector<std::vector<ValueRef>>& inputs,
                                   const std::vector<std::pair<int, int>>& before, std::vector<bool>& faulty,
                                   Diagnostics& diagnostics);

/// W0904: layers that neither a result nor a state depends on.
void warn_unreachable(const Model& model, Diagnostics& diagnostics);

}  // namespace ovir::passes
