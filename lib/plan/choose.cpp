// choose: the patterns of the fast tier take single nodes; why the others have no fast kernel.
#include <algorithm>

#include "plan/passes.hpp"
#include "plan/pattern.hpp"

namespace ovir::plan_passes {
namespace {

/// Why the reference kernel of its node runs a step.
std::string why_not(const Plan& plan, const Step& step, const PlanOptions& options) {
  const auto& node = plan.node(step);
  std::string declined;
  for (const auto* pattern : options.patterns)
    if (node.op->set.empty() && !pattern->groups_only && pattern->begins_at(node.op->type))
      declined += fmt::format("{}{}", declined.empty() ? "" : ", ", pattern->name);
  if (declined.empty()) return fmt::format("no fast kernel for {}", node.op->type);
  const auto other = std::find_if(step.outputs.begin(), step.outputs.end(),
                                  [&](int id) { return plan.value(id).stored != ElementType::f32; });
  if (other != step.outputs.end())
    return fmt::format("fast kernels compute f32, this is {}", name(plan.value(*other).stored));
  return fmt::format("not taken by {}", declined);
}

}  // namespace

void choose(Plan& plan, const PlanOptions& options) {
  if (options.tier != Tier::fast || !options.has("choose")) return;
  take_nodes(plan, options, false);
  remove_unread(plan);  // conversions to f32 of what kernels have as it is
  for (auto& step : plan.steps)
    if (!step.kernel && step.nodes.size() == 1 && step.bodies.empty() && plan.node(step).op->kind == Kind::compute &&
        !plan.node(step).version->view)
      step.why = why_not(plan, step, options);
}

}  // namespace ovir::plan_passes
