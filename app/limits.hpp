// --limits: bounds on memory and time.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/int.hpp"
#include "graph/graph.hpp"

namespace ovir::app {

struct Limits {
  i64 memory = 0;  ///< bytes of all tensors together; 0: not given
  std::optional<std::chrono::nanoseconds> time{};
  i64 work = 0;  ///< elementary steps of a run; INT64_MAX: any number; 0: not given
};

/// "mem=8G,time=60s,work=none". Throws UsageError.
Limits parse_limits(std::string_view text);

/// What a run of this model may take: where `limits` do not say, memory and work in relation to what the user has
/// given, so that a file of a kilobyte cannot ask for gigabytes or hours. `given`: bytes of the inputs.
Limits limits_of_run(Limits limits, const Graph& graph, i64 given);

/// The last resort: ends the process by a signal, two seconds after `time`. A run ends by itself before that, and says
/// where (Runtime::check); but a pipe that nobody writes to is waited for in the system, and neither readers nor checks
/// ask for the time.
void end_after(std::chrono::nanoseconds time);

}  // namespace ovir::app
