// fuse: steps that change nothing go, and the patterns of the fast tier take groups of nodes.
#include "plan/passes.hpp"

namespace ovir::plan_passes {
namespace {

/// Whether a step gives what it gets, as exporters write it where an axis could have been repeated, or axes joined.
bool changes_nothing(const Plan& plan, const Step& step) {
  if (step.nodes.size() != 1 || step.kernel || step.outputs.size() != 1) return false;
  const auto& node = plan.node(step);
  // A Broadcast with a third input may order axes otherwise.
  const bool repeats = node.op->type == "Tile" || (node.op->type == "Broadcast" && node.inputs.size() == 2);
  if (!node.op->set.empty() || !(node.version->view || repeats)) return false;
  const auto &from = plan.value(step.inputs.at(0)), &to = plan.value(step.outputs[0]);
  return from.role != Role::constant && from.shape.is_static() && from.shape == to.shape &&
         from.declared == to.declared && from.stored == to.stored;
}

/// What reads such a step's output reads its input.
void drop_unchanged(Plan& plan) {
  std::vector<int> instead(plan.values.size(), -1);
  std::vector<char> gone(plan.steps.size(), 0);
  const auto redirect = [&](int& id) {
    if (instead[id] >= 0) id = instead[id];
  };
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    auto& step = plan.steps[s];
    for (auto& id : step.inputs) redirect(id);
    if (!changes_nothing(plan, step)) continue;
    instead[step.outputs[0]] = step.inputs[0];
    plan.value_of[step.nodes[0]][0] = step.inputs[0];
    gone[s] = 1;
  }
  for (auto& id : plan.results) redirect(id);
  for (const auto r : plan.model->results)
    for (auto& id : plan.value_of[r]) redirect(id);
  remove_steps(plan, gone);
}

}  // namespace

void fuse(Plan& plan, const PlanOptions& options) {
  if (options.tier != Tier::fast || !options.has("fuse")) return;
  drop_unchanged(plan);
  take_nodes(plan, options, true);
}

}  // namespace ovir::plan_passes
