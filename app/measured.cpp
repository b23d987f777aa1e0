#include "measured.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace ovir::app {
namespace {

using Clock = std::chrono::steady_clock;

/// Those that are given as embeddings, or else the elements of the smallest input as tokens have them: a mask has those
/// of the steps before, too.
i64 tokens_of(const Session& session, const std::vector<Tensor>& values) {
  const auto embedded = session.input("inputs_embeds");
  if (embedded >= 0 && values[embedded].rank() == 3) return values[embedded].shape()[0] * values[embedded].shape()[1];
  std::optional<i64> fewest;
  for (std::size_t k = 0; k < values.size(); ++k)
    if (contains(kInteger, session.inputs()[k].type) && values[k].rank() == 2)
      fewest = std::min(fewest.value_or(values[k].size()), values[k].size());
  return fewest.value_or(0);
}

}  // namespace

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

void add_measuring(Flags& flags, MeasureOptions& options, const std::string& unit) {
  flags.model(options);
  flags.shapes(options);
  add_inputs(flags, options, true);
  flags.duration("-t,--time", options.seconds, "SEC", "measure for SEC seconds; default: 2, unless -n is given");
  flags.number("-n,--niter", options.count, "N", fmt::format("measure N {} instead", unit), 1);
  flags.number("--steps", options.steps, "N",
               "a round is N inferences that keep their states; {step} in an input is the step, from 0", 1);
  flags.number("--warmup", options.warmup, "N", "rounds beforehand that are not measured; default: 3");
  add_execution(flags, options);
}

Measured::Measured(MeasureOptions& options, const Common& common) : options_(options) {
  if (options.seconds > 0 && options.count > 0) throw UsageError("-t and -n exclude each other");
  settle_precision(options.precision, common);
  const auto start = Clock::now();
  loaded_ = load_model(options, common);
  load_ms_ = ms_since(start);

  options.random = true;  // what is not given is made up
  Inputs inputs(*loaded_.model, loaded_.facts, options, common.words);
  const auto limited = inputs.limited(common);
  const MemoryBudget::Scope budget(std::make_shared<MemoryBudget>(limited.budget.memory));
  for (i64 step = 0; step < options.steps; ++step) steps_.push_back(inputs.step(step));
  for (const auto& text : inputs.take_notes()) note(common, text);

  const auto before = Clock::now();
  const auto how = compile_options(options, limited, 1000);
  runtime_ = std::make_shared<Runtime>(how.runtime);
  session_.emplace(compile(loaded_.model, loaded_.facts, how, runtime_));
  compile_ms_ = ms_since(before);
}

double Measured::round(std::vector<double>* times) {
  session_->reset_states();
  double total = 0;
  for (const auto& values : steps_) {
    const auto start = Clock::now();
    session_->run(values, results_);
    const auto took = ms_since(start);
    total += took;
    if (times) times->push_back(took);
  }
  return total;
}

bool Measured::goes_on(std::size_t count, Clock::time_point start) const {
  if (options_.count > 0) return std::cmp_less(count, options_.count);
  return count == 0 || ms_since(start) < (options_.seconds > 0 ? options_.seconds : 2) * 1000;
}

i64 Measured::tokens() const {
  i64 sum = 0;
  if (!session_->variables().empty())
    for (const auto& values : steps_) sum += tokens_of(*session_, values);
  return sum;
}

}  // namespace ovir::app
