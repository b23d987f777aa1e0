// What bench and profile measure: a model that is compiled for many runs, with inputs for every step of a round.
#pragma once
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "execution.hpp"
#include "run_inputs.hpp"

namespace ovir::app {

struct MeasureOptions : InputOptions, ExecutionOptions {
  double seconds = 0;  ///< 0: as many as `count`, or for 2 seconds
  i64 count = 0, steps = 1, warmup = 3;
};
/// Declares the model, its inputs, -t, -n, --steps, --warmup and how it is executed. `unit` is what -n counts:
/// "rounds".
void add_measuring(Flags& flags, MeasureOptions& options, const std::string& unit);

double ms_since(std::chrono::steady_clock::time_point start);

class Measured {
 public:
  /// Loads the model, makes up the inputs that are not given and compiles it. Throws UsageError, and Refused where the
  /// model has faults.
  Measured(MeasureOptions& options, const Common& common);

  Session& session() { return *session_; }
  Runtime& runtime() { return *runtime_; }
  double load_ms() const { return load_ms_; }
  double compile_ms() const { return compile_ms_; }

  /// Runs all steps, with the states as they were at first. The time of each is added to `times`, in ms. Returns their
  /// sum.
  double round(std::vector<double>* times = nullptr);
  /// Whether to go on after so many inferences or rounds, measured since `start`: by -t and -n.
  bool goes_on(std::size_t count, std::chrono::steady_clock::time_point start) const;
  /// Tokens of a round of a model with states: those of the input "inputs_embeds" [batch, tokens, columns], or else the
  /// elements of the smallest input of integers [batch, tokens]; 0 where there is none.
  i64 tokens() const;

 private:
  const MeasureOptions& options_;
  Loaded loaded_;
  std::vector<std::vector<Tensor>> steps_;
  std::shared_ptr<Runtime> runtime_;
  std::optional<Session> session_;
  std::vector<Tensor> results_;
  double load_ms_ = 0, compile_ms_ = 0;
};

}  // namespace ovir::app
