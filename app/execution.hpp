// How a model is executed: the flags that commands share, and what the library is told of them.
#pragma once
#include <string>

#include "flags.hpp"

namespace ovir::app {

struct ExecutionOptions {
  std::string tier = "fast", precision = "f32";
  i64 threads = 0;  ///< 0: as many as the process may use
};

/// Declares --tier, --precision and --threads. `kernels` says what --tier chooses.
void add_execution(Flags& flags, ExecutionOptions& options, const std::string& kernels = "kernels to use");
/// Declares --precision alone.
void add_precision(Flags& flags, std::string& precision);

/// --precision bf16 becomes f32, with a note, where the processor has no instructions for bf16: f32 is faster there.
/// For a new run; one that is repeated keeps its precision.
void settle_precision(std::string& precision, const Common& common);

/// For a plan that runs `expected_runs` times, within --limits.
Options compile_options(const ExecutionOptions& options, const Common& common, i64 expected_runs = 1);

}  // namespace ovir::app
