// Layers whose result OpenVINO's CPU plugin computes otherwise than the specification says.
#pragma once
#include "model/model.hpp"

namespace ovir::tools {

/// N0902 for each of them, bodies included. `facts`: what was inferred of `model`.
void check_portability(const Model& model, const Facts& facts, Diagnostics& diagnostics);

}  // namespace ovir::tools
