#include "exec/initial_values.hpp"

#include <algorithm>

#include "op/shared_attrs.hpp"

namespace ovir {
namespace {

bool has_value(const Plan& plan, const Step& reader, const SessionStates& states) {
  return states.find(plan.node(reader).as<VariableAttrs>().variable_id) != nullptr;
}

}  // namespace

bool is_spared(const Plan& plan, const Step& step, const SessionStates& states) {
  return !step.initial_of.empty() &&
         std::ranges::all_of(step.initial_of, [&](int s) { return has_value(plan, plan.steps[s], states); });
}

bool is_spared_initial(const Plan& plan, const Step& step, std::span<const Tensor> values,
                       const SessionStates& states) {
  return step.nodes.size() == 1 && plan.node(step).op->kind == Kind::read_value && !step.inputs.empty() &&
         !values[step.inputs[0]] && has_value(plan, step, states);
}

}  // namespace ovir
