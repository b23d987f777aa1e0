// bench: how long an inference takes, over many of them.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>

#include "base/quantity.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "measured.hpp"
#include "model/report.hpp"
#include "progress.hpp"
#include "render/json.hpp"

namespace ovir::app::commands::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Options : MeasureOptions {
  std::string format;
};

/// Of all threads of the process.
double processor_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/// The smallest of the sorted times that `share` of them do not exceed.
double percentile(const std::vector<double>& sorted, double share) {
  const auto rank = std::ceil(share * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

struct Times {
  double load = 0, compile = 0, first = 0;  // ms
  std::vector<double> each;                 // ms, sorted
  double total = 0;                         // of all inferences, in ms
  double processor = 0;                     // of all inferences and threads, in ms
  i64 tokens = 0;                           // of all inferences
};

Times measure(const Options& options, Measured& measured) {
  Times times;
  times.load = measured.load_ms();
  times.compile = measured.compile_ms();
  const auto round = [&](std::vector<double>* each) {
    const auto ms = measured.round(each);
    if (times.first == 0) times.first = ms;
    return ms;
  };
  for (i64 i = 0; i < options.warmup; ++i) round(nullptr);
  const auto tokens = measured.tokens();
  const auto start = Clock::now();
  const auto processor = processor_ms();
  while (measured.goes_on(times.each.size(), start)) {
    times.total += round(&times.each);
    times.tokens += tokens;
  }
  times.processor = processor_ms() - processor;
  std::sort(times.each.begin(), times.each.end());
  return times;
}

Json to_json(const Times& t, int threads) {
  const auto count = static_cast<double>(t.each.size());
  Json json{{"schema", 1},
            {"min_ms", t.each.front()},
            {"median_ms", percentile(t.each, 0.5)},
            {"p90_ms", percentile(t.each, 0.9)},
            {"p99_ms", percentile(t.each, 0.99)},
            {"per_second", count / t.total * 1000},
            {"processor_ms", t.processor / count},
            {"inferences", t.each.size()},
            {"threads", threads},
            {"load_ms", t.load},
            {"compile_ms", t.compile},
            {"first_ms", t.first}};
  if (t.tokens > 0) json["tokens_per_second"] = static_cast<double>(t.tokens) / t.total * 1000;
  return json;
}

std::string to_text(const Times& t, int threads) {
  const auto count = static_cast<double>(t.each.size());
  const auto median = percentile(t.each, 0.5);
  const auto unit = time_unit(median);
  const auto row = [&](const char* label, double ms, const char* more = "") {
    return fmt::format("{:7} {:10.3f} {}{}\n", label, ms * unit.per_ms, unit.name, more);
  };
  auto text = fmt::format("{} in {} on {}; loaded in {}, compiled in {}, first in {}\n",
                          counted(t.each.size(), "inference"), duration_text(t.total), counted(threads, "thread"),
                          duration_text(t.load), duration_text(t.compile), duration_text(t.first));
  text += row("min", t.each.front()) + row("median", median) + row("p90", percentile(t.each, 0.9)) +
          row("p99", percentile(t.each, 0.99)) + row("CPU", t.processor / count, " in all threads, mean");
  text += fmt::format("rate    {:10.2f} inferences/s\n", count / t.total * 1000);
  if (t.tokens > 0) text += fmt::format("tokens  {:10.2f} tokens/s\n", static_cast<double>(t.tokens) / t.total * 1000);
  return text;
}

int bench(Options& options, const Common& common) {
  Measured measured(options, common);
  const auto times = with_progress(common, "bench", [&] { return measure(options, measured); });
  const auto threads = measured.runtime().threads();
  print(options.format == "json" ? json_text(to_json(times, threads), 1) : to_text(times, threads));
  return kOk;
}

Action declare(Flags& flags) {
  const auto options = std::make_shared<Options>();
  auto& o = *options;
  add_measuring(flags, o, "inferences");
  flags.format(o.format, "human json");
  return [options](const Common& common) { return bench(*options, common); };
}

}  // namespace

extern constinit const Command command{"bench",
                                       CommandGroup::run,
                                       "measure the time of an inference",
                                       "ovir bench model.xml\n"
                                       "ovir bench model.xml -i image=@cat.png -n 100 --threads 1 --format json\n"
                                       "ovir bench llm.xml -i 'ids=@ids{step}.npy' --steps 32",
                                       {2, 3, 4, 5, 7},
                                       declare};

}  // namespace ovir::app::commands::bench
