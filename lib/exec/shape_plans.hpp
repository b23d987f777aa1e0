// ShapePlans: inputs of open sizes are run by a plan for just these sizes, in which kernels and layouts are chosen that
// a plan for any size cannot count on. What it packs of constants it shares with the plans before it.
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
  /// Whether a model has them: it has convolutions of open sizes, and no states.
  static bool serve(const Model& model, const Facts& facts);
  /// Without `make` there are none. `arenas`: of who runs the plan for all shapes.
  ShapePlans(PlanFor make, std::shared_ptr<Arenas> arenas) : make_(std::move(make)), arenas_(std::move(arenas)) {}

  /// What runs inputs of these shapes; null: the plan for all of them. That is the case where much would have to be
  /// packed for plans too often, or memory is short.
  Executor* find(std::span<const Tensor> inputs, const MemoryBudget& memory);

 private:
  struct Known {
    std::vector<Shape> shapes;
    bool tried = false;
    std::unique_ptr<Executor> executor;
  };
  bool is_too_often() const;
  void make(Known& known);
  /// Forgets the oldest beyond what is kept.
  void trim();

  PlanFor make_;
  std::shared_ptr<Arenas> arenas_;
  std::list<Known> recent_;  // the most recent first
  bool is_first_ = true;
  i64 runs_ = 0, first_packed_ = 0, later_packed_ = 0;  // weights, for the first plan and for all others
};

}  // namespace ovir
