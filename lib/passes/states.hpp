// ReadValue and Assign of one variable.
#pragma once
#include <utility>
#include <vector>

#include "diag/diagnostic.hpp"
#include "model/model.hpp"

namespace ovir::passes {

/// E0209: a variable with two ReadValues or two Assigns, or an Assign that nothing reads; bodies included.
void check_states(const Model& model, Diagnostics& diagnostics);
/// ReadValue returns what the inference before has set, so it comes before the Assign of the same variable. Pairs of
/// indices of nodes, which are still in file order.
std::vector<std::pair<int, int>> reads_before_writes(const Model& model);
/// E0209: the ReadValue depends on its own Assign, so no order exists.
void report_early_write(Diagnostics& diagnostics, const Model& model, const Node& read, const Node& write);
/// What an Assign sets has the type and shape of its variable (E0503, E0505). Of this model, not of its bodies.
void check_assigned(const Model& model, const Facts& facts, Diagnostics& diagnostics);

}  // namespace ovir::passes
