// The port map of a body.
#pragma once
#include <optional>

#include "diag/diagnostic.hpp"
#include "model/model.hpp"

namespace ovir::passes {

/// A body's port map by positions. Every fault of it is reported (E0208); nothing where there is one.
std::optional<BodyMap> map_body(const Model& model, const Layer& outer, const Body& body, const Model& inner,
                                Diagnostics& diagnostics);

}  // namespace ovir::passes
