// run: reads exactly like the stages: load, infer, compile, run, emit.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/memory_budget.hpp"
#include "base/quantity.hpp"
#include "base/text.hpp"
#include "base/word_list.hpp"
#include "command.hpp"
#include "diag/over_memory.hpp"
#include "execution.hpp"
#include "io/files.hpp"
#include "io/npz.hpp"
#include "io/storable.hpp"
#include "limits.hpp"
#include "log.hpp"
#include "model/report.hpp"
#include "passes/planned_bytes.hpp"
#include "progress.hpp"
#include "reference_check.hpp"
#include "render/diagnostics.hpp"
#include "render/outputs.hpp"
#include "render/precision.hpp"
#include "render/statistics.hpp"
#include "render/trap.hpp"
#include "run_inputs.hpp"
#include "run_record.hpp"
#include "state_files.hpp"
#include "tensor_files.hpp"
#include "tools/traps.hpp"
#include "watch.hpp"

namespace ovir::app::commands::run {
namespace {

struct Options : InputOptions, ExecutionOptions {
  std::string format, output, dump, dump_to, labels, save_state, load_state, trap, save_inputs, replay, check_range,
      simulate, reference;
  i64 steps = 1, top = 0;
  bool raw = false, digest = false, dump_stats = false;
};

/// Two spellings of a file or folder, which need not exist.
bool same_path(const std::string& a, const std::string& b) {
  std::error_code ignored;
  const auto canonical = [&](const std::string& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, ignored), ignored);
  };
  return canonical(a) == canonical(b);
}

/// No two flags write the same file; a folder takes the files of several.
void check_distinct(const std::vector<std::pair<std::string_view, std::string>>& flags) {
  for (auto a = flags.begin(); a != flags.end(); ++a)
    for (auto b = a + 1; b != flags.end(); ++b) {
      if (a->second.empty() || b->second.empty() || a->second == "-" || is_folder(a->second)) continue;
      if (same_path(a->second, b->second))
        throw UsageError(fmt::format("{} and {} both name {}", a->first, b->first, printable(b->second)));
    }
}

void check_usage(const Options& o) {
  const bool steps = o.steps > 1;
  if (o.dump.empty() != o.dump_to.empty() && !(o.dump_to.empty() && o.dump_stats))
    throw UsageError("--dump SELECTOR and --dump-to PATH must be given together");
  if (!o.labels.empty() && o.top == 0) throw UsageError("--labels needs --top K");
  if (o.digest && !is_folder(o.output) && !is_folder(o.dump_to))
    throw UsageError("--digest needs -o DIR/ or --dump-to DIR/, whose manifest holds the CRC-32");
  if (steps && !o.output.empty() && o.output.find("{step}") == o.output.npos)
    throw UsageError("--steps: -o needs {step} in its path, or every step would overwrite the one before");
  for (const auto& [flag, path] :
       {std::pair("--dump-to", &o.dump_to), {"--save-inputs", &o.save_inputs}, {"--ref", &o.reference}})
    if (steps && !path->empty() && path->find("{step}") == path->npos)
      throw UsageError(fmt::format("--steps: {} needs {{step}} in its path", flag));
  if (lower(o.reference).ends_with(".xml"))
    throw UsageError(
        fmt::format("--ref takes saved tensors; 'ovir compare MODEL {}' compares two models", printable(o.reference)));
  if (!o.simulate.empty() && (steps || !o.load_state.empty() || !o.trap.empty()))
    throw UsageError("--simulate runs a single step by itself: leave out --steps, --load-state and --trap");
  // A path that cannot be meant is refused before anything is computed.
  if (!o.output.empty()) target_of("-o", with_step(o.output, 0));
  check_distinct({{"-o", o.output}, {"--dump-to", o.dump_to}, {"--save-state", o.save_state}});
  keep_model(o.model, o.weights, "-o", with_step(o.output, 0));
  keep_model(o.model, o.weights, "--dump-to", with_step(o.dump_to, 0));
  keep_model(o.model, o.weights, "--save-state", o.save_state);
}

/// Refuses what cannot end well before anything is computed.
void require_memory(const Model& model, const Facts& facts, i64 limit) {
  const auto planned = passes::planned_bytes(model, facts);
  if (planned.bytes <= limit) return;
  auto failure =
      over_memory(fmt::format("the outputs of \"{}\" take {}, but at most {} may be used",
                              printable(planned.node->layer->name), size_text(planned.bytes), size_text(limit)));
  locate(failure.diagnostic, model, *planned.node->layer);
  throw failure;
}

/// One document: of the only step, or a list.
std::string steps_json(Json steps, bool several) {
  Json document{{"schema", 1}};
  if (several) {
    document["steps"] = Json::array();
    const auto flat = [](const Json& step) {
      return step.size() == 1 && step.contains("outputs") ? step["outputs"] : step;
    };
    for (const auto& step : steps) document["steps"].push_back(flat(step));
    return json_text(document, 3);
  }
  document.update(steps[0]);
  return json_text(document, 2);
}

tools::Traps traps_of(const Options& options) {
  if (options.trap.empty()) return {};
  try {
    return tools::parse_traps(options.trap);
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("--trap: {}", error.what()));
  }
}

/// Tells of the event that ended a run; gives the exit code.
int trapped(const tools::TrapEvent& event, const Options& options, const Common& common) {
  const auto d = tools::diagnose(event);
  Places places(options.model);
  to_stderr(human(d, places, common.err));
  if (options.format == "json") print(json_text(trap_json(event), 2));
  return info(d.code).exit_status;
}

std::vector<ElementType> range_types(const std::string& list) {
  std::vector<ElementType> types;
  for (const auto word : split(list, ',')) {
    const auto type = parse_element_type(trim(word));
    if (type != ElementType::f16 && type != ElementType::bf16)
      throw UsageError(fmt::format("--check-range: expected f16, bf16 or f16,bf16, not '{}'", printable(trim(word))));
    types.push_back(*type);
  }
  return types;
}

std::vector<tools::Rounded> roundings(const Model& model, const Facts& facts, const std::string& text) {
  try {
    return tools::parse_roundings(model, facts, text);
  } catch (const tools::SelectorError& error) {
    throw UsageError(fmt::format("--simulate: {}", error.what()));
  }
}

/// What looks on while the model runs.
struct Watching {
  std::optional<tools::Watched> what;
  std::optional<DumpWatch> dump;
  std::optional<StatisticsWatch> statistics;
  std::optional<tools::RangeWatch> ranges;
  std::vector<tools::Rounded> rounded;
  std::optional<tools::RoundingObserver> rounding;
  tools::Observers all;

  Watching(const Common& common, const Model& model, const Facts& facts, const Options& options) {
    if (!options.simulate.empty()) {
      rounded = roundings(model, facts, options.simulate);
      all.add(rounding.emplace(rounded));
    }
    if (options.dump.empty() && !options.dump_stats && options.check_range.empty()) return;
    what = watched(common, model, "--dump", options.dump.empty() ? "*" : options.dump);
    if (!options.dump_to.empty()) all.add(dump.emplace(*what));
    if (options.dump_stats) all.add(statistics.emplace(*what));
    if (!options.check_range.empty()) all.add(ranges.emplace(*what, range_types(options.check_range)));
  }
  Observer* observer() { return all.empty() ? nullptr : &all; }
};

ovir::Options options_for(const Options& options, const Common& common) {
  const auto how = compile_options(options, common, options.steps);
  return options.trap.empty() && options.simulate.empty() ? how : tools::trap_options(how);
}

/// Says on stdout whether a step was repeated exactly.
int replayed(const Recorded& recorded, const RunRecord& now, const std::vector<Produced>& outputs,
             const Options& options, const Common& common) {
  const auto replay = compare(recorded, now, outputs, {options.raw, options.digest});
  for (const auto& note : replay.notes) to_stderr(fmt::format("{} {}\n", common.err(Paint::note, "note:"), note));
  print(options.format == "json"
            ? json_text({{"schema", 1}, {"same", replay.same}, {"notes", replay.notes}, {"outputs", replay.outputs}}, 2)
            : replay_text(replay));
  return replay.same ? kOk : kDiffers;
}

/// What a step has to tell on stdout, in either format.
struct Told {
  Json json = Json::object();
  std::string text;

  void add(const char* key, Json part, std::string_view words) {
    if (!text.empty()) text += '\n';
    json[key] = std::move(part);
    text += words;
  }
};

/// What rounding each layer alone, and all of them (as in `got`), does to the outputs.
std::pair<std::vector<tools::LayerDamage>, tools::Damage> damages(const Options& options, const Common& common,
                                                                  const Loaded& loaded,
                                                                  const std::vector<Tensor>& values,
                                                                  const std::vector<tools::Rounded>& rounded,
                                                                  const std::vector<Tensor>& got) {
  auto compiling = options_for(options, common);
  auto session = compile(loaded.model, loaded.facts, compiling);
  const auto together = tools::damage(session.run(values), got);
  return {tools::rank_damage(loaded.model, loaded.facts, compiling, values, rounded), together};
}

/// Where shapes that only the inputs decide do not fit, it is theirs that one wants to see.
void note_inputs(Diagnostic& d, const Loaded& loaded, const std::vector<Tensor>& values) {
  constexpr Code of_shapes[] = {Code::E0503, Code::E0504, Code::E0505, Code::E0506,
                                Code::E0507, Code::E0508, Code::E0512};
  if (std::find(std::begin(of_shapes), std::end(of_shapes), d.code) == std::end(of_shapes)) return;
  const auto& model = *loaded.model;
  // A layer that reads the inputs themselves has notes of them.
  const auto at = std::find_if(model.nodes.begin(), model.nodes.end(), [&](const Node& n) {
    return d.layer && d.layer->path.empty() && n.layer->name == d.layer->name;
  });
  if (at != model.nodes.end() && std::all_of(at->inputs.begin(), at->inputs.end(), [&](const ValueRef& v) {
        return std::find(model.parameters.begin(), model.parameters.end(), v.node) != model.parameters.end();
      }))
    return;
  bool open = false;
  std::vector<std::string> inputs;
  for (int k = 0; k < std::ssize(values); ++k) {
    open |= !loaded.facts.of({model.parameters[k], 0}).shape.is_static();
    inputs.push_back(fmt::format("\"{}\" {}{}", printable(model.parameter_name(k)), name(values[k].type()),
                                 to_string(values[k].shape())));
  }
  constexpr std::size_t shown = 8;
  const auto* const verb = inputs.size() == 1 ? "the input was" : "the inputs were";
  if (open) d.notes.push_back({fmt::format("{} {}", verb, word_list(std::move(inputs), "and", shown)), {}, "", ""});
}

/// `recorded`: the run that is to be repeated; null: none.
int execute(const Options& options, const Common& common, const std::vector<std::string>& words,
            const Recorded* recorded) {
  check_usage(options);
  const auto traps = traps_of(options);
  const auto loaded = load_model(options, common);
  const auto& model = *loaded.model;
  const FileOptions files{options.raw, options.digest};

  Inputs inputs(model, loaded.facts, options, words);
  Watching watching(common, model, loaded.facts, options);
  const auto labels = read_labels(options.labels);
  ReferenceCheck reference(common, model, options.reference);

  const auto limited = inputs.limited(common);
  const MemoryBudget::Scope budget(std::make_shared<MemoryBudget>(limited.budget.memory));
  require_memory(model, loaded.facts, limited.budget.memory);
  Stopwatch stopwatch;
  auto session = compile(loaded.model, loaded.facts, options_for(options, limited));
  log_info("compiled in {}", stopwatch.lap());
  for (const auto& [flag, given] :
       {std::pair("--save-state", !options.save_state.empty()), std::pair("--load-state", !options.load_state.empty())})
    if (given && session.variables().empty()) throw UsageError(fmt::format("{}: the model has no states", flag));
  if (!options.load_state.empty())
    inputs.begin_with(load_states(options.load_state, session, options.precision == "declared"));

  DiskRoom room{limited.budget.disk};
  Json steps = Json::array();
  Progress progress(common, "run", options.steps);
  for (i64 step = 0; step < options.steps; ++step) {
    const auto values = inputs.step(step);
    for (const auto& text : inputs.take_notes()) note(common, text);
    if (!options.save_inputs.empty()) save_inputs(with_step(options.save_inputs, step), model, values);
    std::optional<Dump> dump;
    if (watching.dump) watching.dump->into(dump.emplace(with_step(options.dump_to, step), files, room));
    stopwatch.lap();
    std::vector<Tensor> got;
    try {
      if (traps.empty()) {
        got = session.run(values, watching.observer());
      } else if (const auto event = tools::first_trap(session, values, traps, &got, watching.observer())) {
        if (dump) dump->finish();
        return trapped(*event, options, common);
      }
    } catch (Failure& failure) {
      if (dump) dump->finish();  // what was computed before the fault may tell why
      note_inputs(failure.diagnostic, loaded, values);
      throw;
    } catch (...) {
      if (dump) dump->finish();
      throw;
    }
    log_info("step {} ran in {}", step, stopwatch.lap());
    progress.at(step + 1);
    progress.clear();

    const auto outputs = results(model, got);
    const RunRecord record{words, std::string(version()),      options.tier, options.precision,
                           step,  input_digests(model, values)};
    if (recorded) {
      if (step < recorded->run.step) continue;
      return replayed(*recorded, record, outputs, options, common);
    }
    if (const auto text = count_of_labels(outputs, labels); step == 0 && !text.empty()) note(common, text);
    const auto path = with_step(options.output, step);
    const bool together = dump && !path.empty() && target_of("-o", path) == Target::folder &&
                          same_path(path + "/", with_step(options.dump_to, step) + "/");
    if (dump && !together) dump->finish();
    if (!path.empty())
      write_outputs(path, outputs, files, together ? dump->entries() : Json::array(), record_json(record));
    if (dump) log_info("dumped {}", counted(dump->count(), "tensor"));
    Told told;
    if ((path.empty() && options.reference.empty()) || options.top > 0)
      told.add("outputs", outputs_json(outputs, options.top, labels),
               path == "-" ? "" : outputs_text(outputs, options.top, labels, common.out));
    if (!options.reference.empty()) {
      const auto comparison = reference.compare(step, got);
      told.add("comparison", comparison.json, comparison.text);
    }
    if (watching.statistics) {
      const auto rows = watching.statistics->take();
      told.add("statistics", statistics_json(rows), statistics_text(rows));
    }
    if (watching.ranges && step + 1 == options.steps)
      told.add("ranges", ranges_json(*watching.ranges), ranges_text(*watching.ranges));
    if (watching.rounding) {
      const auto damage = damages(options, limited, loaded, values, watching.rounded, got);
      told.add("simulated", damage_json(damage.first, damage.second), damage_text(damage.first, damage.second));
    }
    if (told.text.empty() && told.json.empty()) continue;
    if (options.format == "json") steps.push_back(std::move(told.json));
    else print((options.steps > 1 && !told.text.empty() ? fmt::format("step {}\n", step) : "") + told.text);
  }
  if (const auto list = watching.what && !options.dump.empty() ? missed(*watching.what) : ""; !list.empty())
    note(common, "--dump: not computed: " + list);
  if (!options.save_state.empty()) save_states(options.save_state, session);
  if (!steps.empty()) print(steps_json(std::move(steps), options.steps > 1));
  return leave(reference.within() ? kOk : kDiffers);
}

void declare_options(Flags& flags, Options& o);

/// Repeats what the manifest in a folder says.
int replay(const Options& options, const Common& common) {
  const auto recorded = read_record(options.replay);
  Options again;
  Flags flags;
  declare_options(flags, again);
  Common ignored;
  flags.common(ignored);
  const auto& words = recorded.run.command;
  if (words.empty() || words[0] != "run" || !flags.parse({words.begin() + 1, words.end()}) || !again.replay.empty() ||
      again.model.empty() || recorded.run.step < 0 || recorded.run.step >= again.steps)
    fail(Code::E0705, "the manifest in {} holds no run that can be repeated", printable(options.replay));
  for (const auto& word : again.inputs)
    if (word == "-" || word.ends_with("=-"))
      throw UsageError("--replay: the recorded run read an input from stdin; repeat it with --save-inputs first");
  again.format = options.format;
  for (auto* const path : {&again.output, &again.save_state, &again.save_inputs, &again.dump, &again.dump_to})
    path->clear();
  again.check_range.clear();
  again.reference.clear();
  again.dump_stats = again.digest = false;
  again.labels.clear();
  again.top = 0;
  again.precision = recorded.run.precision;
  return execute(again, common, words, &recorded);
}

/// Flags that --replay takes from the record, and those of files that it does not write.
void require_nothing_else(const Options& o) {
  const std::pair<bool, const char*> given[] = {{!o.inputs.empty(), "--input"},
                                                {!o.shapes.empty(), "--shape"},
                                                {o.random, "--random"},
                                                {o.steps > 1, "--steps"},
                                                {!o.load_state.empty(), "--load-state"},
                                                {!o.save_state.empty(), "--save-state"},
                                                {!o.save_inputs.empty(), "--save-inputs"},
                                                {!o.trap.empty(), "--trap"},
                                                {!o.check_range.empty(), "--check-range"},
                                                {!o.simulate.empty(), "--simulate"},
                                                {!o.reference.empty(), "--ref"},
                                                {!o.output.empty(), "--output"},
                                                {!o.dump.empty(), "--dump"},
                                                {o.dump_stats, "--dump-stats"},
                                                {o.top > 0, "--top"}};
  for (const auto& [is, flag] : given)
    if (is) throw UsageError(fmt::format("--replay repeats the recorded run as it was; leave {} out", flag));
}

int run(Options& options, const Common& common) {
  if (!options.replay.empty()) {
    if (!options.model.empty()) throw UsageError("--replay takes the model from the record; leave MODEL out");
    require_nothing_else(options);
    return replay(options, common);
  }
  if (options.model.empty()) throw UsageError("MODEL is missing\nFor more information, run 'ovir help run'.");
  settle_precision(options.precision, common);
  return execute(options, common, common.words, nullptr);
}

void declare_options(Flags& flags, Options& o) {
  flags.model(o, Flags::Model::optional);
  flags.shapes(o);
  add_inputs(flags, o);
  flags.number("--steps", o.steps, "N",
               "run N times, keeping states; {step} in a path is the step, from 0; random data are new in each", 1);
  flags.text("--load-state", o.load_state, "FILE", "start with the states in this .npz");
  flags.text("--save-state", o.save_state, "FILE", "write the final states to this .npz");
  add_execution(flags, o);

  flags.text(
      "--trap", o.trap, "LIST",
      "stop at the first NaN, index out of range, ...: a list of nan, inf, oob, div0, overflow, domain, f16, bf16, "
      "uninit");

  flags.text("--check-range", o.check_range, "LIST",
             "print how much headroom f16, bf16 or both (f16,bf16) leave for each layer's values");
  flags.text("--simulate", o.simulate, "LIST",
             "round the outputs of layers to a narrower type and rank the layers by the damage: "
             "'type:MatMul=bf16,*/ffn/*=f16'");

  constexpr auto outputs = "Outputs";
  flags
      .text("-o,--output", o.output, "PATH",
            "write the outputs to dir/, out.npz, out.npy, out.json or - (npy on stdout); without -o they are printed")
      .group(outputs);
  flags
      .text("--ref", o.reference, "PATH",
            "compare the outputs with saved ones: an .npz, a folder of .npy or .pb files, or one such file; exit code "
            "1 where they differ")
      .group(outputs);
  flags.number("--top", o.top, "K", "print the K largest values of each output", 1).group(outputs);
  flags.text("--labels", o.labels, "FILE", "names for --top, one per line").group(outputs);
  flags.selector("--dump", o.dump, "also write the outputs of these layers").group(outputs);
  flags.text("--dump-to", o.dump_to, "PATH", "where --dump writes: dir/ or all.npz").group(outputs);
  flags.toggle("--raw", o.raw, "keep the bits of element types that NumPy lacks instead of widening them")
      .group(outputs);
  flags.toggle("--digest", o.digest, "add a CRC-32 of each tensor to the manifest of dir/").group(outputs);
  flags
      .toggle("--dump-stats", o.dump_stats,
              "print statistics and a CRC-32 of each layer's outputs, or of those of --dump")
      .group(outputs);
  flags.text("--save-inputs", o.save_inputs, "DIR/", "write the inputs as NAME.npy: -i @DIR/ reads them back")
      .group(outputs);
  flags.text("--replay", o.replay, "DIR/", "repeat the run that -o DIR/ recorded, and compare; needs no MODEL")
      .group(outputs);
  flags.format(o.format, "human json");
}

Action declare(Flags& flags) {
  const auto options = std::make_shared<Options>();
  declare_options(flags, *options);
  return [options](const Common& common) { return run(*options, common); };
}

}  // namespace

extern constinit const Command command{"run",
                                       CommandGroup::run,
                                       "run a model",
                                       "ovir run model.xml -i image=@cat.png --top 5 --labels labels.txt\n"
                                       "ovir run model.xml -i ids=@ids.npy -i mask=@mask.npy -o out/\n"
                                       "ovir run model.xml --random --dump 'type:MatMul' --dump-to dump/\n"
                                       "ovir run model.xml -i ids=@ids.npy --trap nan,inf,oob",
                                       {1, 2, 3, 4, 5, 6, 7},
                                       declare};

}  // namespace ovir::app::commands::run
