// layout: a value stays blocked where the kernel that writes it and all that read it can. Kernels bring operands of
// another layout into theirs themselves, so no step is added.
#include <algorithm>

#include "plan/passes.hpp"

namespace ovir::plan_passes {
namespace {

/// What is settled before the run: kernels of such steps never give way to reference kernels, which read plain values.
bool is_settled(const Plan& plan, const Step& step) {
  const auto settled = [&](int id) { return plan.value(id).shape.is_static(); };
  return std::all_of(step.inputs.begin(), step.inputs.end(), settled) &&
         std::all_of(step.outputs.begin(), step.outputs.end(), settled);
}

}  // namespace

void layout(Plan& plan) {
  std::vector<char> blocked(plan.values.size(), 0);
  for (const auto& step : plan.steps)
    if (step.kernel && is_settled(plan, step) && step.kernel->writes(Layout::blocked))
      for (const auto id : step.outputs) {
        const auto& value = plan.value(id);
        blocked[static_cast<std::size_t>(id)] =
            value.stored == ElementType::f32 && (value.shape.rank() == 3 || value.shape.rank() == 4);
      }
  for (const auto id : plan.results) blocked[static_cast<std::size_t>(id)] = 0;
  std::vector<char> is_read(plan.values.size(), 0);
  for (const auto& step : plan.steps)
    for (std::size_t i = 0; i < step.inputs.size(); ++i) {
      const auto id = static_cast<std::size_t>(step.inputs[i]);
      is_read[id] = 1;
      const bool can =
          step.kernel && is_settled(plan, step) && step.kernel->reads(static_cast<int>(i), Layout::blocked);
      if (!can) blocked[id] = 0;
    }
  for (std::size_t id = 0; id < plan.values.size(); ++id)
    if (blocked[id] && is_read[id]) plan.values[id].layout = Layout::blocked;
}

}  // namespace ovir::plan_passes
