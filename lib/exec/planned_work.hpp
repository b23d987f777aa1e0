// What the steps of a plan have to do, told from static shapes before anything is computed.
#pragma once
#include "plan/plan.hpp"

namespace ovir {

/// What an iteration costs besides its layers: the body's inputs and outputs change hands.
inline constexpr i64 kStepsOfAnIteration = 500;
/// What an observer's look at the outputs of a layer costs. Not planned, as who looks is not.
inline constexpr i64 kStepsOfAnEvent = 1000;

/// The elementary steps (op/work.hpp) of one step, as far as the shapes of its nodes are static. `by_kernel`: its
/// kernel runs it, not the reference kernels.
i64 step_work(const Plan& plan, const Step& step, bool by_kernel);

struct PlannedWork {
  i64 steps = 0;  ///< of one run, bodies included, as often as they run for certain; INT64_MAX where that is more
  const Model* model = nullptr;
  int node = -1;    ///< the node that has most of them; in a body, where its steps are most
  i64 of_node = 0;  ///< its steps
};
PlannedWork planned_work(const Plan& plan);

/// Throws a Failure (E0004) that names the layer where that is more than `limit`.
void require_work(const PlannedWork& planned, i64 limit);

}  // namespace ovir
