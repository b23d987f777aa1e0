// --limits: bounds on memory and time.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/int.hpp"
#include "graph/graph.hpp"

namespace ovir::app {

struct Limits {
  i64 memory = 0;  ///< bytes of all tensors together; 0: not given
  std::optional<std::chrono::nanoseconds> time{};
  i64 work = 0;  ///< elementary steps of a run; INT64_MAX: any number; 0: not given
  i64 disk = 0;  ///< bytes of the intermediate tensors that a command writes; 0: not given
};

/// "mem=8G,disk=20G,time=60s,work=none". Throws UsageError.
Limits parse_limits(std::string_view text);

/// Bytes of a file, or of the files in a folder; 0 where there are none.
i64 size_on_disk(const std::string& path);

/// Bytes of the files and folders that the words of a command name, and of the .bin of a model: what the user has
/// given. Rather too many than too few.
i64 bytes_given(const std::vector<std::string>& words);

/// What all tensors together may take where nobody says.
i64 memory_for(i64 given);

/// What a run of this model may take: where `limits` do not say, memory and work in relation to what the user has
/// given, so that a file of a kilobyte cannot ask for gigabytes or hours. `given`: bytes of the inputs.
Limits limits_of_run(Limits limits, const Graph& graph, i64 given);

/// The last resort: ends the process by a signal, two seconds after `time`. A run ends by itself before that, and says
/// where (Runtime::check); but a pipe that nobody writes to is waited for in the system, and neither readers nor checks
/// ask for the time.
void end_after(std::chrono::nanoseconds time);

}  // namespace ovir::app
