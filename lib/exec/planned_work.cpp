#include "exec/planned_work.hpp"

#include <tuple>
#include <utility>
#include <vector>

#include "model/report.hpp"
#include "model/trips.hpp"
#include "op/work.hpp"

namespace ovir {
namespace {

/// Of one run of a body, times as often as it runs. A body that may be left out, or ended early, counts nothing or one
/// iteration.
PlannedWork work_of_body(const Plan& plan, const Step& step, int body) {
  const int index = step.nodes.back();
  const bool iterates = always_runs(*plan.model, *plan.facts, index, body);
  auto work = iterates ? planned_work(*step.bodies[body]) : PlannedWork{};
  const auto trips = trip_count(*plan.model, *plan.facts, index, body).value_or(1);
  work.steps = saturating_mul(saturating_add(work.steps, iterates ? kStepsOfAnIteration : 0), trips);
  work.of_node = saturating_mul(work.of_node, trips);
  return work;
}

void add(PlannedWork& sum, const PlannedWork& part) {
  sum.steps = saturating_add(sum.steps, part.steps);
  if (part.of_node > sum.of_node)
    std::tie(sum.model, sum.node, sum.of_node) = std::tie(part.model, part.node, part.of_node);
}

}  // namespace

i64 step_work(const Plan& plan, const Step& step, bool by_kernel) {
  i64 work = 0;
  for (const auto index : step.nodes) {
    const auto& node = (*plan.model)[index];
    std::vector<Fact> inputs;
    for (const auto& v : node.inputs) inputs.push_back(plan.facts->of(v));
    work = saturating_add(work, steps_of(*node.version, node.attrs.get(), inputs, plan.facts->outputs[index]));
  }
  return by_kernel ? work / kStepsAtOnce : work;
}

PlannedWork planned_work(const Plan& plan) {
  PlannedWork sum;
  for (const auto& step : plan.steps) {
    if (step.nodes.empty()) continue;
    const auto own = step_work(plan, step, step.kernel != nullptr);
    add(sum, {own, plan.model.get(), step.nodes.front(), own});
    for (std::size_t b = 0; b < step.bodies.size(); ++b) add(sum, work_of_body(plan, step, static_cast<int>(b)));
  }
  return sum;
}

void require_work(const PlannedWork& planned, i64 limit) {
  if (planned.steps <= limit) return;
  auto d =
      diagnose(Code::E0004, fmt::format("the model takes about {}, but {:.2g} are allowed; this layer takes {:.2g}",
                                        steps_text(planned.steps), static_cast<double>(limit),
                                        static_cast<double>(planned.of_node)));
  locate(d, *planned.model, *(*planned.model)[planned.node].layer);
  fail(std::move(d));
}

}  // namespace ovir
