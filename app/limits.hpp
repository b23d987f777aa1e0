// --limits: bounds on memory and time.
#pragma once
#include <cstdint>
#include <string_view>

namespace ovir::app {

/// "mem=8G,time=60s". Throws UsageError. A process over its memory ends as one that the system refuses memory; one over
/// its time is ended from outside of what it was doing.
void apply_limits(std::string_view text);

}  // namespace ovir::app
