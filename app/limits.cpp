#include "limits.hpp"

#include <sys/time.h>
#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>

#include "base/checked.hpp"
#include "base/memory_budget.hpp"
#include "base/quantity.hpp"
#include "base/staged_files.hpp"
#include "base/text.hpp"
#include "cli.hpp"
#include "io/files.hpp"
#include "op/work.hpp"
#include "run_inputs.hpp"

namespace ovir::app {
namespace {

constexpr auto kAnyWork = std::numeric_limits<i64>::max();

/// A positive number that fits in 64 bits.
std::optional<i64> amount(std::string_view text) {
  const auto number = parse_quantity(text);
  if (!number || !(*number > 0) || *number > 1e18) return std::nullopt;
  return std::max<i64>(1, static_cast<i64>(*number));
}

}  // namespace

Limits parse_limits(std::string_view text) {
  Limits limits;
  std::vector<std::string_view> keys;
  for (const auto part : split(text, ',')) {
    const auto equals = part.find('=');
    const auto key = trim(part.substr(0, equals)),
               value = equals == part.npos ? std::string_view() : trim(part.substr(equals + 1));
    if (std::find(keys.begin(), keys.end(), key) != keys.end())
      throw UsageError(fmt::format("--limits: {} is given more than once", printable(key)));
    keys.push_back(key);
    const auto number = amount(value);
    const auto seconds = parse_duration(value);
    if (key == "mem" && number) limits.memory = *number;
    else if (key == "time" && seconds)
      limits.time = std::chrono::nanoseconds(std::llrint(std::min(*seconds, 1e9) * 1e9));
    else if (key == "work" && value == "none") limits.work = kAnyWork;
    else if (key == "work" && number) limits.work = *number;
    else if (key == "disk" && number) limits.disk = *number;
    else
      throw UsageError(
          fmt::format("--limits: expected mem=8G, disk=20G, time=60s or work=none, not '{}'", printable(part)));
  }
  return limits;
}

i64 size_on_disk(const std::string& path) {
  std::error_code error;
  if (const auto size = std::filesystem::file_size(path, error); !error) return static_cast<i64>(size);
  i64 sum = 0;
  for (std::filesystem::directory_iterator at(path, error), end; !error && at != end; at.increment(error))
    if (at->is_regular_file(error)) sum = saturating_add(sum, static_cast<i64>(at->file_size(error)));
  return sum;
}

i64 bytes_given(const std::vector<std::string>& words) {
  i64 sum = 0;
  const auto add = [&](std::string path) {
    sum = saturating_add(sum, size_on_disk(io::split_key(path).first));
    if (path.ends_with(".xml")) sum = saturating_add(sum, size_on_disk(path.replace(path.size() - 3, 3, "bin")));
  };
  for (const auto& given : words) {
    const auto word = with_step(given, 0);  // x=@in{step}.npy
    add(word);
    for (auto at = word.find_first_of("=@"); at != word.npos; at = word.find_first_of("=@", at + 1))
      add(word.substr(at + 1));
  }
  return sum;
}

i64 memory_for(i64 given) {
  constexpr i64 kMemory = 1'000'000'000, kMemoryOfAByte = 64;
  return std::min(default_memory_limit(), saturating_add(kMemory, saturating_mul(kMemoryOfAByte, given)));
}

Limits limits_of_run(Limits limits, const Graph& graph, i64 given) {
  constexpr i64 kDiskOfMemory = 10;
  const auto bytes = saturating_add(bytes_of(graph), given);
  if (limits.memory == 0) limits.memory = memory_for(bytes);
  if (limits.disk == 0) limits.disk = saturating_mul(kDiskOfMemory, limits.memory);
  // Who says how long a run may take wants no other bound.
  if (limits.work == 0) limits.work = limits.time ? kAnyWork : default_work_limit(bytes);
  return limits;
}

void end_after(std::chrono::nanoseconds time) {
  std::signal(SIGALRM, [](int) {
    constexpr char text[] = "error[E0003]: stopped at the time limit (--limits)\n";
    static_cast<void>(!::write(STDERR_FILENO, text, std::strlen(text)));
    leave_process(kLimit);
  });
  constexpr std::chrono::milliseconds grace(2000);  // for the run to stop itself, which says more
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(time + grace).count();
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(us / 1'000'000);
  timer.it_value.tv_usec = static_cast<suseconds_t>(us % 1'000'000);
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace ovir::app
