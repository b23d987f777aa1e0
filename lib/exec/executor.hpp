// Executor: runs one plan, of a model or of a body. Keeps what it has prepared for the shapes it has met.
#pragma once
#include <list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/int.hpp"
#include "exec/block_pool.hpp"
#include "exec/dynamic_step.hpp"
#include "exec/observer.hpp"
#include "exec/profiler.hpp"
#include "exec/side_values.hpp"
#include "exec/sized.hpp"
#include "exec/states.hpp"

namespace ovir {

/// What the executors of a session share during a run.
struct RunContext {
  Runtime& runtime;
  SessionStates& states;
  BlockPool& blocks;
  Observer* observer = nullptr;
  Profiler* profiler = nullptr;
  std::uint64_t run = 0;  ///< counts the runs of the session, from 1
};

/// Thrown through all frames of a run that an observer ends.
struct StoppedByObserver {};

class Executor {
 public:
  /// `arenas`: shared with other executors of which no two run at the same time; null: its own.
  explicit Executor(std::shared_ptr<const Plan> plan, std::shared_ptr<Arenas> arenas = nullptr);
  const std::shared_ptr<const Plan>& plan() const { return plan_; }
  const std::shared_ptr<Arenas>& arenas() const { return arenas_; }
  ~Executor();

  /// Inputs by Parameter, results by Result in file order. Inputs must be alive until the results are; results share
  /// bytes with nothing but each other. Throws Failure with the layer at fault.
  void run(RunContext& context, std::span<const Tensor> inputs, std::span<const i64> iterations,
           std::span<Tensor> results);

 private:
  class Run;
  /// What a run with inputs and states of these shapes has found.
  struct Recorded {
    std::vector<Shape> key;
    std::vector<std::pair<int, Shape>> found;  // values whose shapes planning did not know; none that the data decide
    i64 work = 0;                              // of the steps that need not be dynamic then
    std::unique_ptr<Sized> sized;              // made when the shapes come again
  };

  Sized& sized_for(RunContext& context, std::span<const Tensor> inputs);
  void make_room(RunContext& context);
  Sized* recorded(RunContext& context, std::span<const Tensor> inputs);

  std::shared_ptr<const Plan> plan_;
  std::shared_ptr<Arenas> arenas_;
  BlockPool::Runs runs_ = std::make_shared<std::uint64_t>();
  std::unique_ptr<Sized> open_;         // with the shapes that are known whatever the inputs
  std::unique_ptr<Sized> loose_;        // with none: the inputs are not what was planned for
  std::list<Recorded> recent_;          // the most recent first
  Recorded* recording_ = nullptr;       // of the run under way
  std::vector<Shape> key_;              // of the run under way
  std::vector<std::string> variables_;  // that the plan reads
  std::vector<i64> below_;              // the iterations of a body that runs
  std::map<std::pair<int, int>, std::unique_ptr<Executor>> bodies_;  // by step and body
  std::vector<std::unique_ptr<DynamicStep>> dynamic_;                // by step
  std::unique_ptr<SideValues> side_;
  std::uint64_t watched_in_ = 0;
};

}  // namespace ovir
