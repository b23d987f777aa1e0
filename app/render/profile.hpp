// What `ovir profile` has measured, as text, JSON, a trace and folded stacks.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/int.hpp"
#include "render/json.hpp"
#include "render/style.hpp"

namespace ovir::app {

/// A step of the plan: a layer, or several that one kernel computes.
struct ProfiledStep {
  std::string name, type, kernel;   ///< of several layers, those of the first; the last kernel
  std::vector<std::string> layers;  ///< all that it computes
  i64 calls = 0;                    ///< in all rounds
  double ms = 0;                    ///< of a round, without the steps of its bodies
  double flops = 0, bytes = 0;      ///< of a round
};

/// One run of a step, for the trace: microseconds from the beginning of the round.
struct TracedStep {
  std::size_t step = 0;
  double begin = 0, took = 0;
};

struct ProfileReport {
  std::vector<ProfiledStep> steps;  ///< in the order in which they first ran
  std::vector<TracedStep> trace;    ///< of the fastest round
  int threads = 1;
  i64 rounds = 0;
  double min_ms = 0, median_ms = 0;
  double peak_flops = 0, peak_bytes = 0;  ///< a second
};

enum class ProfileBy { layer, type, prefix };

/// The steps, or sums over their types or over the first `depth` parts of their names, as a table.
std::string profile_text(const ProfileReport& report, ProfileBy by, int depth, std::string_view sort, i64 top,
                         const Style& style);
Json profile_json(const ProfileReport& report, int depth);
/// The trace-event format that Perfetto and chrome://tracing read.
std::string profile_trace(const ProfileReport& report);
/// A line a step, "part;part;name microseconds", as flame graphs are made of.
std::string profile_folded(const ProfileReport& report);

/// Steps that took longer than in `baseline`, which profile_json wrote, by more than `percent`, the worst first; the
/// whole inference comes before them. Empty: none. Throws Json::exception where it is not such a file.
struct Slower {
  std::string name;
  double before = 0, now = 0;  ///< ms
};
std::vector<Slower> slower_than(const ProfileReport& report, const Json& baseline, double percent);

}  // namespace ovir::app
