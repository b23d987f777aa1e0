// A .bin that probably belongs to another model.
#pragma once
#include "passes/passes.hpp"

namespace ovir::passes {

/// Where values of constants seem to be at fault, and the .bin has many bytes that no constant uses or constants hold
/// numbers that no model does: a note at the first such error.
void suspect_weights(const Model& model, Diagnostics& diagnostics);

}  // namespace ovir::passes
