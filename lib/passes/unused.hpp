// Layers that nothing needs: the model runs without them, so a fault in one is only a warning.
#pragma once
#include <memory>

#include "diag/diagnostic.hpp"
#include "model/model.hpp"

namespace ovir::passes {

/// The graph of a resolved model without the layers that no Result, Assign or Parameter depends on, which come to its
/// `left_out`, and without edges to them or to layers that do not exist. Null where there are none of either, where the
/// model has no Result and no Assign, or where parts of the graph could not be read.
std::shared_ptr<const Graph> without_unused(const Model& model);

/// The diagnostics of what nothing needs: its errors as W0909.
void add_as_unused(const Diagnostics& found, Diagnostics& diagnostics);

}  // namespace ovir::passes
