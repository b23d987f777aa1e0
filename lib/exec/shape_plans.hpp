// ShapePlans: inputs of open sizes that come again and again, or in a plan for a single run at once, are run by a plan
// for just these sizes, in which kernels and layouts are chosen that a plan for any size cannot count on.
#pragma once
#include <list>
#include <memory>
#include <span>
#include <vector>

#include "exec/executor.hpp"
#include "exec/session.hpp"

namespace ovir {

class ShapePlans {
 public:
  /// Without `make`, for a model with states, or that has no convolutions of open sizes, there are none.
  /// `arenas`: of who runs the plan for all shapes.
  ShapePlans(const Plan& plan, bool has_states, PlanFor make, std::shared_ptr<Arenas> arenas);

  /// What runs inputs of these shapes; null: the plan for all of them. That is the case when they come for the first
  /// time in a plan that runs often, and where plans would have to be made too often or memory is short. `watched` runs
  /// count and see plans for just their shapes only where these are made at once: a single run gives the same bits with
  /// an observer as without.
  Executor* find(std::span<const Tensor> inputs, bool watched, const MemoryBudget& memory);

 private:
  struct Known {
    std::vector<Shape> shapes;
    bool tried = false;
    std::unique_ptr<Executor> executor;
  };
  void make(Known& known);
  /// Forgets the oldest beyond what is kept.
  void trim();

  PlanFor make_;
  std::shared_ptr<Arenas> arenas_;
  bool at_once_ = false;
  std::list<Known> recent_;  // the most recent first
  i64 runs_ = 0, made_ = 0;
};

}  // namespace ovir
