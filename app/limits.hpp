// --limits: bounds on memory and time.
#pragma once
#include <cstdint>
#include <string_view>

namespace ovir::app {

/// "mem=8G,time=60s". Throws UsageError. A process over its memory ends as one that the system refuses memory; one over
/// its time is ended from outside of what it was doing.
void apply_limits(std::string_view text);

/// Leaves the process no more than `n` processors, so that neither the library nor oneDNN starts more threads.
void limit_threads(std::int64_t n);

}  // namespace ovir::app
