// make_plan: the passes, one after the other.
#include "plan/plan.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "plan/passes.hpp"

namespace ovir {
namespace {

struct Pass {
  std::string_view name;
  bool optional;
  void (*run)(Plan&, const PlanOptions&);
};
// clang-format off
constexpr Pass kPasses[] = {
    {"lower", false, plan_passes::lower},
    {"precision", false, [](Plan& p, const PlanOptions&) { plan_passes::precision(p); }},
    {"fold", true, plan_passes::fold},
    {"fuse", true, plan_passes::fuse},
    {"choose", true, plan_passes::choose},
    {"layout", true, [](Plan& p, const PlanOptions&) { plan_passes::layout(p); }},
    {"caches", true,
     [](Plan& p, const PlanOptions& options) {
       if (options.has("caches")) plan_passes::caches(p);
     }},
};
// clang-format on

const Pass* find_pass(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kPasses), std::end(kPasses), [&](const Pass& p) { return p.name == name; });
  return found == std::end(kPasses) ? nullptr : found;
}

}  // namespace

bool PlanOptions::has(std::string_view name) const {
  return std::find(without.begin(), without.end(), name) == without.end();
}

std::vector<std::string_view> pass_names() {
  std::vector<std::string_view> names;
  for (const auto& pass : kPasses) names.push_back(pass.name);
  return names;
}

bool is_optional_pass(std::string_view name) {
  if (name == kJoinRows) return true;
  const auto* pass = find_pass(name);
  return pass && pass->optional;
}

std::shared_ptr<const Plan> make_plan(std::shared_ptr<const Model> model, std::shared_ptr<const Facts> facts,
                                      const PlanOptions& options) {
  if (!options.until.empty() && !find_pass(options.until))
    throw std::invalid_argument(fmt::format("there is no pass \"{}\"", options.until));
  auto plan = std::make_shared<Plan>();
  plan->model = std::move(model);
  plan->facts = std::move(facts);
  plan->options = options;
  plan->options.patterns = {};
  auto& made = plan->options.made;
  if (!made) made = std::make_shared<MadeOfConstants>();
  const auto packed = made->packed;
  for (const auto& pass : kPasses) {
    pass.run(*plan, options);
    if (pass.name == options.until) break;
  }
  plan->packed = made->packed - packed;
  plan->options.pool = nullptr;
  made = nullptr;
  plan_passes::lifetimes(*plan);
  return plan;
}

}  // namespace ovir
