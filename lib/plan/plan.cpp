// make_plan: the passes, one after the other.
#include "plan/plan.hpp"

#include <algorithm>

#include "diag/diagnostic.hpp"
#include "plan/passes.hpp"

namespace ovir {

bool PlanOptions::has(std::string_view name) const {
  return std::find(without.begin(), without.end(), name) == without.end();
}

std::shared_ptr<const Plan> make_plan(std::shared_ptr<const Model> model, std::shared_ptr<const Facts> facts,
                                      const PlanOptions& options) {
  namespace passes = plan_passes;
  auto plan = std::make_shared<Plan>(passes::lower(std::move(model), std::move(facts), options));
  struct Pass {
    std::string_view name;
    void (*run)(Plan&, const PlanOptions&);
  };
  constexpr Pass kPasses[] = {{"precision", [](Plan& p, const PlanOptions&) { passes::precision(p); }},
                              {"fold", passes::fold},
                              {"fuse", passes::fuse},
                              {"choose", passes::choose},
                              {"layout", [](Plan& p, const PlanOptions&) { passes::layout(p); }}};
  for (const auto& pass : kPasses) {
    pass.run(*plan, options);
    if (pass.name == options.until) break;
  }
  passes::lifetimes(*plan);
  return plan;
}

}  // namespace ovir
