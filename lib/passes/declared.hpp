// What a file declares of its ports, against what was inferred.
#pragma once
#include <span>
#include <vector>

#include "diag/diagnostic.hpp"
#include "model/model.hpp"

namespace ovir::passes {

/// What the file says of the node's outputs.
std::vector<Fact> declared_outputs(const Node& node);

/// W0901 for every port of `node` where the file and the inference cannot both be right. `facts` holds what was
/// inferred of the node's inputs; `outputs` of the node itself. `received`: it is a Parameter of a body.
void compare_declared(const Model& model, const Node& node, const Facts& facts, std::span<const Fact> outputs,
                      bool received, Diagnostics& diagnostics);

}  // namespace ovir::passes
