// fuse: steps that change nothing go, and the patterns of the fast tier take groups of nodes.
#include "plan/passes.hpp"
#include "plan/pattern.hpp"

namespace ovir::plan_passes {
namespace {

/// What reads the output of a step that changes nothing reads its input.
void drop_unchanged(Plan& plan, const PlanOptions& options) {
  std::vector<char> free(plan.model->nodes.size(), 0), gone(plan.steps.size(), 0);
  std::vector<std::size_t> step_of(free.size(), 0);
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const auto& step = plan.steps[s];
    if (!is_offered(plan, step)) continue;
    free[step.nodes[0]] = 1;
    step_of[step.nodes[0]] = s;
  }
  std::vector<int> instead(plan.values.size(), -1);
  const Graphlet graph(plan, free, false);
  for (const auto* pattern : options.patterns) {
    if (pattern->priority != Priority::unchanged || !options.has(pattern->name)) continue;
    for (int i = 0; i < std::ssize(free); ++i) {
      const auto match = pattern->begins_at(graph.type(i)) ? pattern->match(graph, i) : std::nullopt;
      if (!match) continue;
      auto& id = plan.value_of[i].at(0);
      id = instead[id] = value_of(plan, match->inputs[0]);
      gone[step_of[i]] = 1;
    }
  }
  const auto redirect = [&](int& id) { id = instead[id] >= 0 ? instead[id] : id; };
  for (auto& step : plan.steps)
    for (auto& id : step.inputs) redirect(id);
  for (auto& id : plan.results) redirect(id);
  for (const auto r : plan.model->results)
    for (auto& id : plan.value_of[r]) redirect(id);
  remove_steps(plan, gone);
}

}  // namespace

void fuse(Plan& plan, const PlanOptions& options) {
  if (options.tier != Tier::fast || !options.has("fuse")) return;
  drop_unchanged(plan, options);
  take_nodes(plan, options, true);
}

}  // namespace ovir::plan_passes
