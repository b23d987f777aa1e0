// How often the body of a layer runs, as far as that is known before.
#pragma once
#include <optional>

#include "model/model.hpp"

namespace ovir {

/// The most iterations of body `body` of node `node`; nothing where only the run tells. 1 for a body that does not
/// iterate.
std::optional<i64> trip_count(const Model& model, const Facts& facts, int node, int body);

/// Whether those are taken: false for a body of If, and where a condition that is not known may end the iterations.
bool always_runs(const Model& model, const Facts& facts, int node, int body);

}  // namespace ovir
