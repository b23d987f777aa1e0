// Session: runs a Plan again and again, and holds the states between runs.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exec/observer.hpp"
#include "op/eval_context.hpp"
#include "plan/plan.hpp"
#include "plan/runtime.hpp"

namespace ovir {

/// An input or output of a model as the user meets it.
struct ModelPort {
  std::string name;                ///< the first tensor name, else the layer's name
  std::vector<std::string> names;  ///< all that it goes by: tensor names, then the layer's name
  ElementType type;                ///< in which it is exchanged; see exchanged_type
  PartialShape shape;
};

/// A variable of ReadValue and Assign.
struct Variable {
  std::string id;
  ElementType type;
  PartialShape shape;
};

class Profiler;

/// A plan for inputs of these shapes, by Parameter; null where there is none.
using PlanFor = std::function<std::shared_ptr<const Plan>(std::span<const Shape>)>;

/// Used by one thread at a time, whichever it is. Sessions may share a Plan and a Runtime, also between threads. One
/// that was moved from throws std::logic_error, and so does a run that begins while another is under way.
class Session {
 public:
  /// Throws std::invalid_argument where one of them is null. `plan_for`, for a model that ShapePlans::serve(),
  /// makes plans for the shapes that images of open sizes have in a run.
  Session(std::shared_ptr<Runtime> runtime, std::shared_ptr<const Plan> plan, PlanFor plan_for = {});
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  /// By Parameter and by Result, in file order.
  const std::vector<ModelPort>& inputs() const;
  const std::vector<ModelPort>& outputs() const;
  const std::vector<Variable>& variables() const;
  /// The position of the input or output that goes by `name`; -1: none.
  int input(std::string_view name) const;
  int output(std::string_view name) const;

  /// Inputs by Parameter in file order, of the declared or the exchanged type; E0702, E0703, E0704 where they are not
  /// what the model takes. They are read during the call only. The results, in file order and in their exchanged types,
  /// belong to the caller; their storage is used again by a later run once nobody holds it. Throws Failure with the
  /// layer at fault, or E0003 where the Runtime was stopped or its memory is not enough, E0004 where the run would take
  /// more work than the Runtime allows; the states are then as they were before.
  std::vector<Tensor> run(std::span<const Tensor> inputs, Observer* observer = nullptr);
  /// The same into `results`, not the list of inputs, which allocates nothing where a run before has left its results
  /// there.
  void run(std::span<const Tensor> inputs, std::vector<Tensor>& results, Observer* observer = nullptr);
  /// The same by name: every input by one of its names. Results by ModelPort::name.
  std::map<std::string, Tensor> run(const std::map<std::string, Tensor>& inputs, Observer* observer = nullptr);
  /// The plan that a run with these inputs follows. Throws as run() does where they are refused.
  std::shared_ptr<const Plan> plan_of(std::span<const Tensor> inputs);
  /// Who is told of the steps of runs without an observer; null: nobody. It must be alive while runs are.
  void set_profiler(Profiler* profiler);
  /// True where the last run was ended by its observer: its results are empty, the states as they were before.
  bool stopped() const;

  /// A copy of the value of a variable; empty before the first Assign. E0701 where the model has no such variable.
  Tensor state(std::string_view variable) const;
  /// Gives a variable a value, which is copied. E0701 for a variable that the model does not have, E0704 and E0703
  /// where it is not of the variable's type and shape.
  void set_state(std::string_view variable, const Tensor& value);
  void reset_states();

 private:
  struct Impl;
  Impl& impl() const;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ovir
