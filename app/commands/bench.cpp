// bench: how long an inference takes, over many of them.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>

#include "command.hpp"
#include "model/report.hpp"
#include "progress.hpp"
#include "render/json.hpp"
#include "run_inputs.hpp"

namespace ovir::app::commands::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Options : InputOptions {
  std::string format, tier = "fast", precision = "f32";
  i64 seconds = 0, count = 0, warmup = 3, steps = 1, threads = 0;
};

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

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

/// Tokens that an inference takes: the elements of the first input of integers [batch, tokens]; 0 where there is none.
i64 tokens_of(const Session& session, const std::vector<Tensor>& values) {
  for (std::size_t k = 0; k < values.size(); ++k)
    if (contains(kInteger, session.inputs()[k].type) && values[k].rank() == 2) return values[k].size();
  return 0;
}

struct Times {
  double load = 0, compile = 0, first = 0;  // ms
  std::vector<double> each;                 // ms, sorted
  double total = 0;                         // of all inferences, in ms
  double processor = 0;                     // of all inferences and threads, in ms
  i64 tokens = 0;                           // of all inferences
};

/// Runs the steps once, with states as they were at first.
class Rounds {
 public:
  Rounds(Session& session, std::vector<std::vector<Tensor>> steps) : session_(session), steps_(std::move(steps)) {}

  double once(std::vector<double>* times = nullptr) {
    session_.reset_states();
    double total = 0;
    for (const auto& values : steps_) {
      const auto start = Clock::now();
      session_.run(values, results_);
      const auto took = ms_since(start);
      total += took;
      if (times) times->push_back(took);
    }
    return total;
  }
  i64 tokens() const {
    i64 sum = 0;
    if (!session_.variables().empty())
      for (const auto& values : steps_) sum += tokens_of(session_, values);
    return sum;
  }

 private:
  Session& session_;
  std::vector<std::vector<Tensor>> steps_;
  std::vector<Tensor> results_;
};

Times measure(const Options& options, Rounds& rounds) {
  Times times;
  times.first = rounds.once();
  for (i64 i = 1; i < options.warmup; ++i) rounds.once();
  const auto limit = static_cast<double>(options.seconds > 0 ? options.seconds : 2) * 1000;
  const auto start = Clock::now();
  const auto inferences = [&] { return static_cast<i64>(times.each.size()); };
  const auto done = [&] {
    return options.count > 0 ? inferences() >= options.count : inferences() > 0 && ms_since(start) >= limit;
  };
  const auto processor = processor_ms();
  while (!done()) {
    times.total += rounds.once(&times.each);
    times.tokens += rounds.tokens();
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
  std::string text =
      fmt::format("{} in {:.2f} s on {}; loaded in {:.1f} ms, compiled in {:.1f} ms, first in {:.1f} ms\n",
                  count(t.each.size(), "inference"), t.total / 1000, count(static_cast<std::size_t>(threads), "thread"),
                  t.load, t.compile, t.first);
  text += fmt::format("min     {:10.3f} ms\nmedian  {:10.3f} ms\np90     {:10.3f} ms\np99     {:10.3f} ms\n",
                      t.each.front(), percentile(t.each, 0.5), percentile(t.each, 0.9), percentile(t.each, 0.99));
  text += fmt::format("CPU     {:10.3f} ms in all threads, mean\n", t.processor / static_cast<double>(t.each.size()));
  text += fmt::format("rate    {:10.2f} inferences/s\n", static_cast<double>(t.each.size()) / t.total * 1000);
  if (t.tokens > 0) text += fmt::format("tokens  {:10.2f} tokens/s\n", static_cast<double>(t.tokens) / t.total * 1000);
  return text;
}

int bench(Options& options, const Common& common) {
  if (options.seconds > 0 && options.count > 0) throw UsageError("-t and -n exclude each other");
  const auto start = Clock::now();
  const auto loaded = load_model(options, common);
  if (!loaded) return loaded.status;
  const auto load = ms_since(start);

  options.random = true;  // what is not given is made up
  Inputs inputs(*loaded.model, loaded.facts, options, common.words);
  std::vector<std::vector<Tensor>> steps;
  for (i64 step = 0; step < options.steps; ++step) steps.push_back(inputs.step(step));
  for (const auto& text : inputs.take_notes()) note(common, text);

  const auto before = Clock::now();
  ovir::Options how;
  how.tier = options.tier == "reference" ? Tier::reference : Tier::fast;
  how.precision = options.precision == "declared" ? Precision::declared : Precision::f32;
  how.expected_runs = 1000;
  how.runtime = {static_cast<int>(options.threads), common.most.memory, common.most.time};
  const auto runtime = std::make_shared<Runtime>(how.runtime);
  auto session = compile(loaded.model, loaded.facts, how, runtime);
  const auto compiled = ms_since(before);

  Rounds rounds(session, std::move(steps));
  auto times = with_progress(common, "bench", [&] { return measure(options, rounds); });
  times.load = load;
  times.compile = compiled;
  print(options.format == "json" ? json_text(to_json(times, runtime->threads()), 1)
                                 : to_text(times, runtime->threads()));
  return kOk;
}

Action declare(Flags& flags) {
  const auto options = std::make_shared<Options>();
  auto& o = *options;
  flags.model(o);
  flags.shapes(o);
  add_inputs(flags, o);
  flags.number("-t,--time", o.seconds, "SEC", "measure for SEC seconds; default: 2, unless -n is given", 1);
  flags.number("-n,--niter", o.count, "N", "measure N inferences instead", 1);
  flags.number("--warmup", o.warmup, "N", "rounds beforehand that are not measured; default: 3", 1);
  flags.number("--steps", o.steps, "N",
               "a round is N inferences that keep their states; {step} in an input is the step, from 0", 1);
  flags.choice("--tier", o.tier, {"fast", "reference"}, "TIER", "kernels to use").env("OVIR_TIER");
  flags.choice("--precision", o.precision, {"f32", "declared"}, "PRECISION", "as for run");
  flags.number("--threads", o.threads, "N", "use at most N processors", 1).env("OVIR_THREADS");
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
