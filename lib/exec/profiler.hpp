// Profiler: sees how long each step of a run takes, and changes nothing of how it is run.
#pragma once
#include <chrono>
#include <span>
#include <string>

#include "plan/plan.hpp"

namespace ovir {

/// A step that has just run. References hold during the call only.
struct StepTime {
  const Plan& plan;  ///< of a body where the step is in one
  const Step& step;
  std::span<const i64> iterations;  ///< of the enclosing loops, outermost first
  /// By value of the plan, those of the step among them. Blocked ones are of one axis, their padding included.
  std::span<const Tensor> values;
  std::string kernel;  ///< what ran it: "view", "reference", or the name of the fast kernel
  std::chrono::steady_clock::time_point begin, end;
};

class Profiler {
 public:
  virtual ~Profiler() = default;
  /// Called in the thread of Session::run. A step with bodies comes after the steps of its bodies, whose time it
  /// contains.
  virtual void after(const StepTime& step) = 0;
};

}  // namespace ovir
