// Initial values of variables: what a run can do without where these have values.
#pragma once
#include <span>

#include "exec/states.hpp"

namespace ovir {

/// Whether a step computes only initial values that are not needed.
bool is_spared(const Plan& plan, const Step& step, const SessionStates& states);

/// Whether a step is a ReadValue that has no initial value, but another one. `values` by id.
bool is_spared_initial(const Plan& plan, const Step& step, std::span<const Tensor> values, const SessionStates& states);

}  // namespace ovir
