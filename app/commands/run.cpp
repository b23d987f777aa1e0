// run: reads exactly like the stages: load, infer, compile, run, emit.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>

#include "base/text.hpp"
#include "commands/commands.hpp"
#include "io/files.hpp"
#include "io/npz.hpp"
#include "io/storable.hpp"
#include "limits.hpp"
#include "log.hpp"
#include "render/outputs.hpp"
#include "run_inputs.hpp"
#include "tensor_files.hpp"
#include "tools/select.hpp"

namespace ovir::app {
namespace {

/// The tensors of --dump: those that steps compute come from the observer; inputs, constants and results, which no step
/// computes, are taken from where they are.
class Watch {
 public:
  Watch(const Model& model, const std::string& selector) : model_(model) {
    try {
      selected_ = tools::select(model, selector);
    } catch (const tools::SelectorError& error) {
      throw UsageError(fmt::format("--dump: {}", error.what()));
    }
    for (const auto& s : selected_) wanted_.emplace(&(*s.model)[s.node]);
  }

  void observe(const Observation& o, Dump& dump) {
    if (!wanted_.contains(&o.node)) return;
    for (const auto& s : selected_) {
      if (&(*s.model)[s.node] != &o.node || (s.port && *s.port != o.port)) continue;
      if (s.iteration && (o.iterations.empty() || o.iterations.back() != *s.iteration)) continue;
      return add(dump, {"", s.model, &o.node, o.port, names(o.node, o.port), o.iterations, o.value.unpacked()});
    }
  }

  /// What no step came to: parts of a body that was not run, or of one that keeps them to itself.
  std::string missed() const {
    std::string list;
    std::size_t n = 0;
    for (const auto& s : selected_) {
      const auto& node = (*s.model)[s.node];
      if (!seen_.contains(&node) && n++ < 3)
        list +=
            fmt::format("{}\"{}{}\"", list.empty() ? "" : ", ", printable(s.model->path), printable(node.layer->name));
    }
    return n > 3 ? fmt::format("{} and {} more", list, n - 3) : list;
  }

  /// Before the run: the inputs and the constants.
  void given(const std::vector<Tensor>& inputs, Dump& dump) {
    for (const auto& s : selected_) {
      const auto& node = (*s.model)[s.node];
      if (node.op->kind == Kind::constant && node.constant)
        add(dump, {"", s.model, &node, 0, names(node, 0), {}, node.constant.unpacked()});
      if (node.op->kind != Kind::parameter || s.model != &model_) continue;
      const auto k = std::find(model_.parameters.begin(), model_.parameters.end(), s.node) - model_.parameters.begin();
      add(dump, {"", s.model, &node, 0, names(node, 0), {}, inputs[static_cast<std::size_t>(k)]});
    }
  }

  /// After it: the results.
  void gained(const std::vector<Tensor>& results, Dump& dump) {
    for (const auto& s : selected_) {
      const auto& node = (*s.model)[s.node];
      if (node.op->kind != Kind::result || s.model != &model_) continue;
      const auto k = std::find(model_.results.begin(), model_.results.end(), s.node) - model_.results.begin();
      add(dump, {"", s.model, &node, 0, node.layer->output_names, {}, results[static_cast<std::size_t>(k)]});
    }
  }

 private:
  const Model& model_;
  std::vector<tools::Selected> selected_;
  std::set<const Node*> wanted_;
  std::set<const Node*> seen_;

  void add(Dump& dump, Produced produced) {
    seen_.insert(produced.producer);
    dump.add(std::move(produced));
  }

  static std::vector<std::string> names(const Node& node, int port) {
    const auto& ports = node.layer->outputs;
    return port < static_cast<int>(ports.size()) ? ports[static_cast<std::size_t>(port)].names
                                                 : std::vector<std::string>{};
  }
};

void check_usage(const RunOptions& o) {
  const bool steps = o.steps > 1;
  if (o.dump.empty() != o.dump_to.empty()) throw UsageError("--dump SELECTOR and --dump-to PATH belong together");
  if (o.steps < 1) throw UsageError("--steps: at least 1");
  if (o.threads < 0) throw UsageError("--threads: at least 1");
  if (o.top < 0) throw UsageError("--top: at least 1");
  if (!o.labels.empty() && o.top == 0) throw UsageError("--labels is for --top K");
  if (steps && !o.output.empty() && o.output.find("{step}") == o.output.npos)
    throw UsageError("--steps: -o needs {step} in its path, or every step would overwrite the one before");
  if (steps && !o.dump_to.empty() && o.dump_to.find("{step}") == o.dump_to.npos)
    throw UsageError("--steps: --dump-to needs {step} in its path");
  // A path that cannot be meant is refused before anything is computed.
  if (!o.output.empty()) target_of("-o", with_step(o.output, 0));
}

/// Which variable holds what: the type of each, by the layers that read or assign it.
void find_variables(const Model& model, const Facts& facts, std::map<std::string, ElementType, std::less<>>& types) {
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {
    const auto& node = model.nodes[i];
    const auto* const id = node.op->kind == Kind::read_value || node.op->kind == Kind::assign
                               ? node.layer->attribute("variable_id")
                               : nullptr;
    if (id && !facts.outputs[i].empty()) types[id->value] = facts.outputs[i][0].type;
    for (std::size_t b = 0; b < node.bodies.size(); ++b) find_variables(*node.bodies[b], facts.bodies[i].at(b), types);
  }
}

void load_states(const std::string& path, const Model& model, const Facts& facts, States& states) {
  std::map<std::string, ElementType, std::less<>> types;
  find_variables(model, facts, types);
  for (auto& [name, tensor] : io::read_npz(path)) {
    const auto known = types.find(name);
    if (known == types.end())
      fail(Code::E0701, "{}: the model has no variable \"{}\"", printable(path), printable(name));
    if (known->second != ElementType::dynamic && tensor.type() != known->second)
      tensor = io::narrow(tensor, known->second);
    states[name] = std::move(tensor);
  }
}

void save_states(const std::string& path, const States& states) {
  std::vector<io::Named> list;
  for (const auto& [name, tensor] : states)
    if (tensor) list.push_back({name, io::storable(tensor)});
  io::write_npz(path, list);
}

bool same_folder(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return std::filesystem::weakly_canonical(a + "/", ignored) == std::filesystem::weakly_canonical(b + "/", ignored);
}

}  // namespace

int run(const RunOptions& options, const Common& common) {
  check_usage(options);
  const auto loaded = load_model(options, common);
  if (!loaded) return loaded.status;
  const auto& model = *loaded.model;
  const FileOptions files{options.raw, options.digest};

  Inputs inputs(model, loaded.facts, options);
  std::optional<Watch> watch;
  if (!options.dump.empty()) watch.emplace(model, options.dump);
  const auto labels = read_labels(options.labels);

  if (options.threads > 0) limit_threads(options.threads);
  Stopwatch stopwatch;
  auto session = compile(loaded.model, loaded.facts,
                         {options.tier == "reference" ? passes::Tier::reference : passes::Tier::fast, watch.has_value(),
                          options.steps > 1});
  log_info("compiled in {}", stopwatch.lap());
  if (!options.load_state.empty()) load_states(options.load_state, model, loaded.facts, session.states());

  Json steps = Json::array();
  for (std::int64_t step = 0; step < options.steps; ++step) {
    const auto values = inputs.step(step);
    std::optional<Dump> dump;
    if (watch) {
      dump.emplace(with_step(options.dump_to, step), files);
      watch->given(values, *dump);
    }
    stopwatch.lap();
    std::vector<Tensor> got;
    try {
      got = session.run(values, dump ? Observer([&](const Observation& o) { watch->observe(o, *dump); }) : Observer());
    } catch (...) {
      if (dump) dump->finish();  // what was computed before the fault may tell why
      throw;
    }
    log_info("step {} ran in {}", step, stopwatch.lap());
    if (dump) watch->gained(got, *dump);

    const auto outputs = results(model, got);
    const auto path = with_step(options.output, step);
    const bool together = dump && !path.empty() && target_of("-o", path) == Target::folder &&
                          same_folder(path, with_step(options.dump_to, step));
    if (dump && !together) dump->finish();
    if (!path.empty()) write_outputs(path, outputs, files, together ? dump->entries() : Json::array());
    if (dump) log_info("dumped {}", count(dump->count(), "tensor"));
    if (path.empty() || options.top > 0) {
      if (options.format == "json") steps.push_back(outputs_json(outputs, options.top, labels));
      else if (path != "-")
        print((options.steps > 1 ? fmt::format("step {}\n", step) : "") +
              outputs_text(outputs, options.top, labels, common.out));
    }
  }
  if (const auto missed = watch ? watch->missed() : ""; !missed.empty() && !common.quiet)
    fmt::print(stderr, "{} --dump: not computed: {}\n", common.err(Paint::note, "note:"), missed);
  if (!options.save_state.empty()) save_states(options.save_state, session.states());
  if (!steps.empty())
    print(options.steps > 1 ? json_text({{"schema", 1}, {"steps", std::move(steps)}}, 3)
                            : json_text({{"schema", 1}, {"outputs", std::move(steps[0])}}, 2));
  return kOk;
}

}  // namespace ovir::app
