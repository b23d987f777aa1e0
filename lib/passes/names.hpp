// The names of a model's layers.
#pragma once
#include "diag/diagnostic.hpp"
#include "model/model.hpp"

namespace ovir::passes {

/// W0906: layers of this model (or body) that share a name.
void warn_shared_names(const Model& model, Diagnostics& diagnostics);

}  // namespace ovir::passes
