// profile: which layers an inference spends its time on.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "base/text.hpp"
#include "command.hpp"
#include "exec/profiler.hpp"
#include "fast/peak.hpp"
#include "io/files.hpp"
#include "render/profile.hpp"
#include "run_inputs.hpp"

namespace ovir::app::commands::profile {
namespace {

using Clock = std::chrono::steady_clock;

struct Options : InputOptions {
  std::string format, sort = "time", by = "layer", trace, folded, baseline, tier = "fast", precision = "f32";
  i64 count = 0, seconds = 0, steps = 1, threads = 0, depth = 2, top = 0, tolerance = 10;
};

/// Bytes of a value that a step reads or writes.
double bytes_of(const StepTime& t, const std::vector<int>& ids) {
  double sum = 0;
  for (const auto id : ids) sum += static_cast<double>(t.values[static_cast<std::size_t>(id)].byte_size());
  return sum;
}

/// Multiplications and additions of a node, by the shapes that were inferred; 0 where these are open.
double flops_of(const Plan& plan, int index) {
  const auto& node = (*plan.model)[index];
  const std::string_view type = node.op->type;
  const auto size = [&](const PartialShape& shape) {
    return shape.is_static() ? static_cast<double>(shape.to_shape().count()) : 0.0;
  };
  const auto& out = plan.facts->of({index, 0}).shape;
  const auto in = [&](std::size_t port) -> const PartialShape& { return plan.facts->of(node.inputs[port]).shape; };
  const auto length = [](const PartialShape& shape, i64 axis) {
    const bool known = shape.has_rank() && axis < shape.rank() && shape[axis].is_static();
    return known ? static_cast<double>(std::max<i64>(shape[axis].length(), 1)) : 1.0;
  };
  if (type == "Convolution" || type == "GroupConvolution") return 2 * size(out) * size(in(1)) / length(out, 1);
  if (type.ends_with("ConvolutionBackpropData")) return 2 * size(in(0)) * size(in(1)) / length(in(0), 1);
  if (type == "MatMul") {  // the squared length of the sums is what both operands have and the product has not
    const auto left = size(in(0)), right = size(in(1)), whole = size(out);
    const auto batch = out.has_rank() && out.rank() > 2 && in(1).rank() > 2
                           ? whole / length(out, out.rank() - 1) / length(out, out.rank() - 2)
                           : 1.0;
    return whole > 0 ? 2 * std::sqrt(left * right * whole / batch) : 0;
  }
  if (type == "LSTMSequence" || type == "GRUSequence") {
    const auto first = type == "LSTMSequence" ? std::size_t{4} : std::size_t{3};
    const auto rows = size(in(0)) / length(in(0), 2);
    return 2 * rows * (size(in(first)) + size(in(first + 1)));
  }
  if (type == "ScaledDotProductAttention")
    return 2 * size(in(0)) * length(in(1), in(1).rank() - 2) + 2 * size(out) * length(in(1), in(1).rank() - 2);
  return node.version->view ? 0 : size(out);
}

/// Adds up the steps of rounds.
class Recorder final : public Profiler {
 public:
  void begin_round() {
    round_ = Clock::now();
    trace_.clear();
    times_.assign(steps_.size(), 0.0);
    inner_.clear();
  }
  /// Keeps the times of a round that is the fastest so far.
  void end_round(double ms) {
    rounds_.push_back(ms);
    if (ms > *std::min_element(rounds_.begin(), rounds_.end())) return;
    times_.resize(steps_.size());
    for (std::size_t i = 0; i < steps_.size(); ++i) steps_[i].ms = times_[i];
    best_ = trace_;
  }

  void after(const StepTime& t) override {
    const auto [at, is_new] = index_.emplace(&t.step, steps_.size());
    if (is_new) steps_.push_back(described(t));
    if (times_.size() < steps_.size()) times_.resize(steps_.size());
    const auto i = at->second;
    const auto us = [](Clock::duration d) { return std::chrono::duration<double, std::micro>(d).count(); };
    const auto took = us(t.end - t.begin), begin = us(t.begin - round_);
    // What steps of its bodies took is theirs.
    double own = took;
    while (!inner_.empty() && inner_.back().begin >= begin) {
      own -= inner_.back().took;
      inner_.pop_back();
    }
    inner_.push_back({i, begin, took});
    times_[i] += own / 1000;
    ++steps_[i].calls;
    trace_.push_back({i, begin, took});
  }

  ProfileReport report(double flops, double bytes, int threads) const {
    auto sorted = rounds_;
    std::sort(sorted.begin(), sorted.end());
    return {steps_, best_, threads, std::ssize(rounds_), sorted.front(), sorted[sorted.size() / 2], flops, bytes};
  }
  /// Forgets the rounds so far.
  void restart() {
    rounds_.clear();
    for (auto& s : steps_) s.calls = 0;
  }

 private:
  static ProfiledStep described(const StepTime& t) {
    ProfiledStep s;
    s.kernel = t.kernel;
    for (const auto node : t.step.nodes) {
      s.layers.push_back((*t.plan.model)[node].layer->name);
      s.flops += flops_of(t.plan, node);
    }
    if (!s.layers.empty()) {
      const auto& model = *t.plan.model;
      s.type = model[t.step.nodes.front()].op->type;
      s.name = (model.path.empty() ? "" : model.path + "/") + s.layers.front();
    }
    s.bytes = bytes_of(t, t.step.inputs) + bytes_of(t, t.step.outputs);
    return s;
  }

  Clock::time_point round_;
  std::map<const Step*, std::size_t> index_;
  std::vector<ProfiledStep> steps_;
  std::vector<double> rounds_, times_;
  std::vector<TracedStep> trace_, best_, inner_;
};

void check_usage(const Options& o) {
  if (o.count > 0 && o.seconds > 0) throw UsageError("-t and -n exclude each other");
  keep_model(o.model, o.weights, "--trace", o.trace);
  keep_model(o.model, o.weights, "--folded", o.folded);
  if (!o.trace.empty() && o.trace == o.folded) throw UsageError("--trace and --folded name the same file");
}

void save(const std::string& path, const std::string& text) {
  if (path.empty()) return;
  const std::span<const std::byte> parts[] = {std::as_bytes(std::span(text))};
  io::save_file(path, parts);
}

ProfileBy by_of(const std::string& word) {
  if (word == "type") return ProfileBy::type;
  return word == "prefix" ? ProfileBy::prefix : ProfileBy::layer;
}

Json read_baseline(const std::string& path) {
  const auto file = io::open_file(path);
  try {
    auto json = Json::parse(file.text());
    slower_than({}, json, 0);
    return json;
  } catch (const Json::exception&) {
    throw UsageError(fmt::format("--baseline: {} is not what 'ovir profile --format json' writes", printable(path)));
  }
}

/// Exit code 1 where the inference is slower than the baseline's.
int against(const ProfileReport& report, const Json& baseline, const Options& options, const Common& common) {
  const auto slower = slower_than(report, baseline, static_cast<double>(options.tolerance));
  for (std::size_t i = 0; i < std::min<std::size_t>(slower.size(), 11); ++i)
    fmt::print(stderr, "{} {} took {:.3f} ms, {:.3f} ms in the baseline\n", common.err(Paint::error, "slower:"),
               printable(slower[i].name), slower[i].now, slower[i].before);
  return slower.empty() ? kOk : kDiffers;
}

int profile(Options& options, const Common& common) {
  check_usage(options);
  const auto baseline = options.baseline.empty() ? Json() : read_baseline(options.baseline);
  const auto loaded = load_model(options, common);
  if (!loaded) return loaded.status;
  options.random = true;  // what is not given is made up
  Inputs inputs(*loaded.model, loaded.facts, options, common.words);
  std::vector<std::vector<Tensor>> steps;
  for (i64 step = 0; step < options.steps; ++step) steps.push_back(inputs.step(step));
  for (const auto& text : inputs.take_notes()) note(common, text);

  ovir::Options how;
  how.tier = options.tier == "reference" ? Tier::reference : Tier::fast;
  how.precision = options.precision == "declared" ? Precision::declared : Precision::f32;
  how.expected_runs = 1000;
  how.runtime = {static_cast<int>(options.threads), common.most.memory, common.most.time};
  const auto runtime = std::make_shared<Runtime>(how.runtime);
  auto session = compile(loaded.model, loaded.facts, how, runtime);
  const auto peak = fast::measure_peak(*runtime);

  Recorder recorder;
  session.set_profiler(&recorder);
  std::vector<Tensor> results;
  const auto round = [&] {
    session.reset_states();
    recorder.begin_round();
    const auto start = Clock::now();
    for (const auto& values : steps) session.run(values, results);
    recorder.end_round(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  };
  for (int i = 0; i < 3; ++i) round();
  recorder.restart();
  const auto end = Clock::now() + std::chrono::seconds(options.seconds > 0 ? options.seconds : 2);
  for (i64 i = 0; options.count > 0 ? i < options.count : i == 0 || Clock::now() < end; ++i) round();
  const auto report = recorder.report(peak.flops, peak.bytes, runtime->threads());

  const auto depth = static_cast<int>(options.depth);
  save(options.trace, profile_trace(report));
  save(options.folded, profile_folded(report));
  print(options.format == "json"
            ? json_text(profile_json(report, depth), 2)
            : profile_text(report, by_of(options.by), depth, options.sort, options.top, common.out));
  return options.baseline.empty() ? kOk : against(report, baseline, options, common);
}

Action declare(Flags& flags) {
  const auto options = std::make_shared<Options>();
  auto& o = *options;
  flags.model(o);
  flags.shapes(o);
  add_inputs(flags, o);
  flags.number("-t,--time", o.seconds, "SEC", "measure for SEC seconds; default: 2, unless -n is given", 1);
  flags.number("-n,--niter", o.count, "N", "measure N rounds instead", 1);
  flags.number("--steps", o.steps, "N",
               "a round is N inferences that keep their states; {step} in an input is the step, from 0", 1);
  flags.choice("--by", o.by, {"layer", "type", "prefix"}, "WHAT",
               "one line per layer, or sums by type or by name prefix");
  flags.number("--depth", o.depth, "N", "how many parts of a name make its prefix; default: 2", 1);
  flags.choice("--sort", o.sort, {"time", "name", "order"}, "KEY", "order of the lines; default: time");
  flags.number("--top", o.top, "K", "only the first K lines", 1);
  flags.text("--trace", o.trace, "FILE", "write a trace for Perfetto or chrome://tracing");
  flags.text("--folded", o.folded, "FILE", "write folded stacks for flame graphs");
  flags.text("--baseline", o.baseline, "FILE",
             "exit with code 1 if the inference is slower than in FILE, an earlier output of --format json");
  flags.number("--tolerance", o.tolerance, "PERCENT", "how much slower than the baseline it may be; default: 10");
  flags.choice("--tier", o.tier, {"fast", "reference"}, "TIER", "kernels to use").env("OVIR_TIER");
  flags.choice("--precision", o.precision, {"f32", "declared"}, "PRECISION", "as for run");
  flags.number("--threads", o.threads, "N", "use at most N processors", 1).env("OVIR_THREADS");
  flags.format(o.format, "human json");
  return [options](const Common& common) { return profile(*options, common); };
}

}  // namespace

extern constinit const Command command{"profile",
                                       CommandGroup::run,
                                       "show which layers an inference spends its time on",
                                       "ovir profile model.xml --top 20\n"
                                       "ovir profile model.xml --by type\n"
                                       "ovir profile model.xml --trace trace.json --folded stacks.txt\n"
                                       "ovir profile model.xml --format json >base.json\n"
                                       "ovir profile model.xml --baseline base.json",
                                       {1, 2, 3, 4, 5, 7},
                                       declare};

}  // namespace ovir::app::commands::profile
