// choose: the patterns of the fast tier take single nodes; why the others have no fast kernel.
#include "plan/passes.hpp"
#include "plan/pattern.hpp"

namespace ovir::plan_passes {
namespace {

/// Why the reference kernel of its node runs a step.
std::string why_not(const Node& node, const PlanOptions& options) {
  std::string declined;
  for (const auto* pattern : options.patterns)
    if (node.op->set.empty() && !pattern->groups_only && pattern->begins_at(node.op->type))
      declined += fmt::format("{}{}", declined.empty() ? "" : ", ", pattern->name);
  if (declined.empty()) return fmt::format("no fast kernel for {}", node.op->type);
  return fmt::format("not taken by {}", declined);
}

}  // namespace

void choose(Plan& plan, const PlanOptions& options) {
  if (options.tier != Tier::fast || !options.has("choose")) return;
  take_nodes(plan, options, false);
  remove_unread(plan);  // conversions to f32 of what kernels have as it is
  for (auto& step : plan.steps)
    if (!step.kernel && step.nodes.size() == 1 && step.bodies.empty() && plan.node(step).op->kind == Kind::compute &&
        !plan.node(step).version->view && !is_view(plan, step))
      step.why = why_not(plan.node(step), options);
}

}  // namespace ovir::plan_passes
