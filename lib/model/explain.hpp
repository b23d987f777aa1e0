// Notes that say how a fault came about: what reached the faulty layer, and from where.
#pragma once
#include <optional>
#include <span>

#include "diag/diagnostic.hpp"
#include "model/model.hpp"

namespace ovir {

/// Adds to a fault of `node` what reached its inputs: types, shapes, small values and the layers they come from.
/// `inputs`: a fact for every input, inferred or of the actual values. `lines`, made when it is needed, serves many
/// calls for one file. A diagnostic that names a layer already (one in a body) stays as it is.
void explain(Diagnostic& d, const Model& model, const Node& node, std::span<const Fact> inputs,
             std::optional<LineIndex>* lines = nullptr);
/// Adds to a fault in a body of `node` what the body's parameters receive.
void explain_body(Diagnostic& d, const Model& model, const Node& node, const BodyMap& map, const Model& inner);

}  // namespace ovir
