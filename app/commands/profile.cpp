// profile: which layers an inference spends its time on.
#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/memory_budget.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "exec/evaluate.hpp"
#include "exec/profiler.hpp"
#include "fast/peak.hpp"
#include "io/files.hpp"
#include "measured.hpp"
#include "render/profile.hpp"
#include "tensor_files.hpp"
#include "tools/macs.hpp"

namespace ovir::app::commands::profile {
namespace {

using Clock = std::chrono::steady_clock;

struct Options : MeasureOptions {
  std::string format, sort = "time", by = "layer", trace, folded, baseline;
  i64 depth = 2, top = 0;
  double tolerance = 10;  ///< percent
};

/// Bytes that a step reads and writes. What lies where it is wanted, as the parts of a Concat, is not moved.
double bytes_of(const StepTime& t) {
  if (t.step.view) return 0;
  const auto at = [&](int id) { return std::as_bytes(std::span(t.values[id].bytes(), t.values[id].byte_size())); };
  const auto within = [](auto part, auto whole) {
    return part.size() < whole.size() && part.data() >= whole.data() &&
           part.data() + part.size() <= whole.data() + whole.size();
  };
  std::size_t moved = 0;
  for (const auto id : t.step.inputs) moved += at(id).size();
  for (const auto id : t.step.outputs) moved += at(id).size();
  for (const auto in : t.step.inputs)
    for (const auto out : t.step.outputs)
      if (within(at(in), at(out)) || within(at(out), at(in))) moved -= 2 * std::min(at(in).size(), at(out).size());
  return static_cast<double>(moved);
}

/// The plan's value for what a node reads, where planning knew it; else null.
const Value* constant_of(const Plan& plan, const ValueRef& v) {
  if (v.node < 0 || v.port >= std::ssize(plan.value_of[v.node])) return nullptr;
  const auto& value = plan.value(plan.value_of[v.node][v.port]);
  return value.role == Role::constant ? &value : nullptr;
}

/// Bytes of constants that the kernel of a product has taken, as the file has them.
double taken_bytes(const StepTime& t) {
  std::set<std::pair<int, int>> counted;
  for (const auto& v : t.step.operands) counted.emplace(v.node, v.port);
  double bytes = 0;
  for (const auto node : t.step.nodes)
    for (const auto& v : (*t.plan.model)[node].inputs) {
      const auto* value = constant_of(t.plan, v);
      if (!value || !value->shape.is_static() || !counted.emplace(v.node, v.port).second) continue;
      bytes += static_cast<double>(value->shape.to_shape().count()) * bit_width(value->declared) / 8;
    }
  return bytes;
}

/// Two for each multiply-accumulate, by the shapes that were inferred; none where these are open.
std::optional<double> flops_of(const Plan& plan, int index) {
  const auto& node = (*plan.model)[index];
  std::vector<Fact> inputs;
  for (const auto& v : node.inputs) inputs.push_back(v.node < 0 ? Fact{} : plan.facts->of(v));
  const auto macs = tools::macs_of(node, inputs, plan.facts->outputs[index]);
  return macs ? std::optional(2 * static_cast<double>(*macs)) : std::nullopt;
}

/// Of all nodes of a step, by the shapes of this call; 0 where they don't tell.
double flops_of_call(const StepTime& t) {
  std::vector<Tensor> inputs;
  for (const auto id : t.step.inputs) {
    if (t.plan.value(id).layout == Layout::blocked) return 0;
    inputs.push_back(t.values[id]);
  }
  double flops = 0;
  const auto add = [&](const Node& node, auto in, auto out) {
    flops += 2 * static_cast<double>(tools::macs_of(node, in, out).value_or(0));
  };
  try {
    infer_group(t.plan, t.step, facts_of_inputs(t.plan, t.step, inputs), add);
  } catch (const Failure&) {
    return 0;
  }
  return flops;
}

/// Whether it is a product or a convolution, also where shapes are open.
bool multiplies(const StepTime& t) {
  return std::any_of(t.step.nodes.begin(), t.step.nodes.end(),
                     [&](int node) { return (*t.plan.model)[node].version->macs != nullptr; });
}

/// The first node of a step, none of those that decompress its weights; -1: it has none.
int first_of_data(const StepTime& t) {
  std::set<int> of_weights;
  const auto is_known = [&](const ValueRef& v) {
    return v.node < 0 || of_weights.contains(v.node) || constant_of(t.plan, v);
  };
  for (const auto node : t.step.nodes) {
    const auto& inputs = (*t.plan.model)[node].inputs;
    if (!std::all_of(inputs.begin(), inputs.end(), is_known)) return node;
    of_weights.insert(node);
  }
  return t.step.nodes.empty() ? -1 : t.step.nodes.front();
}

struct Amounts {
  double ms = 0, flops = 0, bytes = 0;
};

/// A step of a plan: several of them, for the sizes of several runs, may be one line.
struct KnownStep {
  std::size_t line = 0;
  i64 elements = -1;              ///< of its first output, where they are known beforehand
  std::optional<double> flops{};  ///< of each call; none: sizes decide
  double bytes = 0;               ///< of weights that its kernel has taken
  std::string kernel{};           ///< the last one: the first sizes of a run may not have suited it
};

/// Adds up the steps of rounds.
class Recorder final : public Profiler {
 public:
  /// `traces`: every run of a step is kept, for a trace.
  explicit Recorder(bool traces) : traces_(traces) {}

  void begin_round() {
    round_ = Clock::now();
    trace_.clear();
    share_.give_back();
    now_.assign(steps_.size(), {});
    of_bodies_.clear();
    aside_ = {};
  }
  /// Keeps the times of a round that is the fastest so far.
  void end_round(double ms) {
    ms -= us(aside_) / 1000;
    rounds_.push_back(ms);
    if (ms > *std::min_element(rounds_.begin(), rounds_.end())) return;
    now_.resize(steps_.size());
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      steps_[i].ms = now_[i].ms;
      steps_[i].flops = now_[i].flops;
      steps_[i].bytes = now_[i].bytes;
    }
    best_ = trace_;
  }

  void after(const StepTime& t) override {
    const auto& known = known_of(t);
    const auto i = known.line;
    if (now_.size() < steps_.size()) now_.resize(steps_.size());
    const auto took = us(t.end - t.begin);
    const auto counting = Clock::now();
    now_[i].flops += known.flops ? *known.flops : flops_of_call(t);
    const auto counted = Clock::now() - counting;
    aside_ += counted;
    // What steps of its bodies took is theirs.
    double own = took;
    for (const auto& body : t.step.bodies) own -= std::exchange(of_bodies_[body.get()], 0);
    of_bodies_[&t.plan] += took + us(counted);
    now_[i].ms += own / 1000;
    now_[i].bytes += bytes_of(t) + known.bytes;
    ++steps_[i].calls;
    if (!traces_) return;
    share_.add_entry();  // a loop may have any number of iterations
    trace_.push_back({i, us(t.begin - round_), took});
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
  static double us(Clock::duration d) { return std::chrono::duration<double, std::micro>(d).count(); }

  /// A plan may be gone, and another one where it was.
  const KnownStep& known_of(const StepTime& t) {
    auto& known = index_[&t.step];
    const auto elements = elements_of(t);
    const bool is_new = known.elements != elements;
    if (is_new) {
      // Who only converts a constant has no nodes of its own.
      const auto node = t.step.nodes.empty() ? t.step.operands.at(0).node : t.step.nodes.back();
      const auto [at, is_first] = lines_.emplace(&(*t.plan.model)[node], steps_.size());
      if (is_first) steps_.push_back(described(t));
      known = {at->second, elements, flops_of_step(t), multiplies(t) ? taken_bytes(t) : 0};
    }
    if (known.kernel == t.kernel) return known;
    auto& names = steps_[known.line].kernel;
    if (!is_new && names == known.kernel) names = t.kernel;
    else if (names.find(t.kernel) == names.npos) names += ", " + std::string(t.kernel);
    known.kernel = t.kernel;
    return known;
  }
  /// 0: they are not known beforehand.
  static i64 elements_of(const StepTime& t) {
    const auto* shape = t.step.outputs.empty() ? nullptr : &t.plan.value(t.step.outputs[0]).shape;
    return shape && shape->is_static() ? shape->to_shape().count() : 0;
  }

  static std::optional<double> flops_of_step(const StepTime& t) {
    double sum = 0;
    for (const auto node : t.step.nodes) {
      const auto flops = flops_of(t.plan, node);
      if (!flops) return std::nullopt;
      sum += *flops;
    }
    return sum;
  }

  static ProfiledStep described(const StepTime& t) {
    ProfiledStep s;
    s.kernel = t.kernel;
    const auto& model = *t.plan.model;
    int named = first_of_data(t);
    double most = 0;
    for (const auto node : t.step.nodes) {
      s.layers.push_back(model[node].layer->name);
      const auto flops = flops_of(t.plan, node).value_or(0);
      if (flops > most) named = node;
      most = std::max(most, flops);
    }
    if (named >= 0) {
      s.type = model[named].op->type;
      s.name = (model.path.empty() ? "" : model.path + "/") + model[named].layer->name;
    }
    return s;
  }

  Clock::time_point round_;
  Clock::duration aside_{};  ///< of the round so far: what counting open sizes took, which is not the model's
  std::map<const Step*, KnownStep> index_;
  std::map<const Node*, std::size_t> lines_;  ///< by the last node
  std::vector<ProfiledStep> steps_;
  std::vector<double> rounds_;
  std::vector<Amounts> now_;                 ///< by line: of the round so far
  std::map<const Plan*, double> of_bodies_;  ///< us of the steps of a body since the step that has it began
  bool traces_;
  std::vector<TracedStep> trace_, best_;
  MemoryBudget::Share share_;
};

void check_usage(const Options& o) {
  keep_model(o.model, o.weights, "--trace", o.trace);
  keep_model(o.model, o.weights, "--folded", o.folded);
  if (o.baseline.empty() && o.tolerance != Options().tolerance) throw UsageError("--tolerance needs --baseline FILE");
  if (!o.trace.empty() && o.trace == o.folded) throw UsageError("--trace and --folded name the same file");
}

void save(const std::string& path, const std::string& text) {
  if (path.empty()) return;
  make_parent(path);
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
    fail(Code::E0705, "{}: --baseline expects what 'ovir profile --format json' writes", printable(path));
  }
}

/// Exit code 1 where the inference is slower than the baseline's.
int against(const ProfileReport& report, const Json& baseline, const Options& options, const Common& common) {
  const auto slower = slower_than(report, baseline, options.tolerance);
  for (std::size_t i = 0; i < std::min<std::size_t>(slower.size(), 11); ++i)
    to_stderr(fmt::format("{} {} took {:.3f} ms, {:.3f} ms in the baseline\n", common.err(Paint::error, "slower:"),
                          printable(slower[i].name), slower[i].now, slower[i].before));
  return slower.empty() ? kOk : kDiffers;
}

int profile(Options& options, const Common& common) {
  check_usage(options);
  const auto baseline = options.baseline.empty() ? Json() : read_baseline(options.baseline);
  Measured measured(options, common);
  const auto peak = fast::measure_peak(measured.runtime());

  Recorder recorder(!options.trace.empty());
  measured.session().set_profiler(&recorder);
  const auto round = [&] {
    recorder.begin_round();
    recorder.end_round(measured.round());
  };
  for (i64 i = 0; i < options.warmup; ++i) round();
  recorder.restart();
  const auto start = Clock::now();
  for (std::size_t i = 0; measured.goes_on(i, start); ++i) round();
  const auto report = recorder.report(peak.flops, peak.bytes, measured.runtime().threads());

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
  add_measuring(flags, o, "rounds");
  flags.choice("--by", o.by, {"layer", "type", "prefix"}, "WHAT",
               "one line per layer, or sums by type or by name prefix");
  flags.number("--depth", o.depth, "N", "how many parts of a name make its prefix; default: 2", 1);
  flags.choice("--sort", o.sort, {"time", "name", "order"}, "KEY", "order of the lines");
  flags.number("--top", o.top, "K", "only the first K lines", 1);
  flags.text("--trace", o.trace, "FILE", "write a trace for Perfetto or chrome://tracing");
  flags.text("--folded", o.folded, "FILE", "write folded stacks for flame graphs");
  flags.text("--baseline", o.baseline, "FILE",
             "exit with code 1 if the inference is slower than in FILE, an earlier output of --format json");
  flags.decimal("--tolerance", o.tolerance, "PERCENT", "how much slower than the baseline it may be; default: 10");
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
