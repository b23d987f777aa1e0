// --limits: bounds on memory and time.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/int.hpp"

namespace ovir::app {

struct Limits {
  i64 memory = 0;  ///< bytes of all tensors together; 0: what the machine has, but a quarter
  std::optional<std::chrono::nanoseconds> time{};
};

/// "mem=8G,time=60s". Throws UsageError.
Limits parse_limits(std::string_view text);

/// Ends the process a little after `time`: runs end by themselves, but reading and checking ask nobody.
void end_after(std::chrono::nanoseconds time);

}  // namespace ovir::app
