// run: reads exactly like the stages: load, infer, compile, run, emit.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/memory_budget.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "io/files.hpp"
#include "io/npz.hpp"
#include "io/storable.hpp"
#include "limits.hpp"
#include "log.hpp"
#include "model/report.hpp"
#include "passes/planned_bytes.hpp"
#include "progress.hpp"
#include "render/outputs.hpp"
#include "run_inputs.hpp"
#include "tensor_files.hpp"
#include "watch.hpp"

namespace ovir::app::commands::run {
namespace {

struct Options : InputOptions {
  std::string format, output, dump, dump_to, labels, save_state, load_state, tier = "fast", precision = "f32";
  i64 steps = 1, top = 0, threads = 0;
  bool raw = false, digest = false;
};

/// No two flags write the same file; a folder takes the files of several.
void check_distinct(const std::vector<std::pair<std::string_view, std::string>>& flags) {
  std::error_code ignored;
  for (auto a = flags.begin(); a != flags.end(); ++a)
    for (auto b = a + 1; b != flags.end(); ++b) {
      if (a->second.empty() || b->second.empty() || a->second == "-" || is_folder(a->second)) continue;
      const auto one = std::filesystem::weakly_canonical(a->second, ignored);
      if (one == std::filesystem::weakly_canonical(b->second, ignored))
        throw UsageError(fmt::format("{} and {} both name {}", a->first, b->first, printable(b->second)));
    }
}

void check_usage(const Options& o) {
  const bool steps = o.steps > 1;
  if (o.dump.empty() != o.dump_to.empty())
    throw UsageError("--dump SELECTOR and --dump-to PATH must be given together");
  if (!o.labels.empty() && o.top == 0) throw UsageError("--labels needs --top K");
  if (steps && !o.output.empty() && o.output.find("{step}") == o.output.npos)
    throw UsageError("--steps: -o needs {step} in its path, or every step would overwrite the one before");
  if (steps && !o.dump_to.empty() && o.dump_to.find("{step}") == o.dump_to.npos)
    throw UsageError("--steps: --dump-to needs {step} in its path");
  // A path that cannot be meant is refused before anything is computed.
  if (!o.output.empty()) target_of("-o", with_step(o.output, 0));
  check_distinct({{"-o", o.output}, {"--dump-to", o.dump_to}, {"--save-state", o.save_state}});
  keep_model(o.model, o.weights, "-o", with_step(o.output, 0));
  keep_model(o.model, o.weights, "--dump-to", with_step(o.dump_to, 0));
  keep_model(o.model, o.weights, "--save-state", o.save_state);
}

void load_states(const std::string& path, Session& session) {
  const auto& variables = session.variables();
  const auto archive = io::Npz::open(path);
  for (const auto& key : archive.keys()) {
    const auto known = std::find_if(variables.begin(), variables.end(), [&](const Variable& v) { return v.id == key; });
    if (known == variables.end())
      fail(Code::E0701, "{}: the model has no variable \"{}\"", printable(path), printable(key));
    // Before the elements are unpacked: an archive of megabytes may hold gigabytes.
    if (const auto info = archive.info(key); !known->shape.contains(info.shape))
      fail(Code::E0703, "{}: the state of variable \"{}\" must have shape {}, but {} was given", printable(path),
           printable(key), to_string(known->shape), to_string(info.shape));
    const auto tensor = archive.read(key);
    const bool narrow = known->type != ElementType::dynamic && tensor.type() != known->type;
    session.set_state(key, narrow ? io::narrow(tensor, known->type) : tensor);
  }
}

void save_states(const std::string& path, const Session& session) {
  std::vector<io::Named> list;
  for (const auto& variable : session.variables())
    if (const auto value = session.state(variable.id)) list.push_back({variable.id, io::storable(value)});
  io::write_npz(path, list);
}

/// Refuses what cannot end well before anything is computed.
void require_memory(const Model& model, const Facts& facts, i64 limit) {
  const auto planned = passes::planned_bytes(model, facts);
  const auto most = limit > 0 ? limit : default_memory_limit();
  if (planned.bytes <= most) return;
  Diagnostic d;
  d.code = Code::E0003;
  d.message = fmt::format("the outputs of \"{}\" take {} bytes, more than the {} that may be used",
                          printable(planned.node->layer->name), planned.bytes, most);
  d.layer = layer_ref(model, *planned.node->layer);
  d.at = planned.node->layer->at;
  fail(std::move(d));
}

bool same_folder(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return std::filesystem::weakly_canonical(a + "/", ignored) == std::filesystem::weakly_canonical(b + "/", ignored);
}

int run(const Options& options, const Common& common) {
  check_usage(options);
  const auto loaded = load_model(options, common);
  if (!loaded) return loaded.status;
  const auto& model = *loaded.model;
  const FileOptions files{options.raw, options.digest};

  Inputs inputs(model, loaded.facts, options);
  std::optional<Watch> watch;
  if (!options.dump.empty()) watch.emplace(model, options.dump);
  const auto labels = read_labels(options.labels);

  require_memory(model, loaded.facts, common.most.memory);
  Stopwatch stopwatch;
  ovir::Options compile_options;
  compile_options.tier = options.tier == "reference" ? Tier::reference : Tier::fast;
  compile_options.precision = options.precision == "declared" ? Precision::declared : Precision::f32;
  compile_options.expected_runs = options.steps;
  compile_options.runtime = {static_cast<int>(options.threads), common.most.memory, common.most.time};
  auto session = compile(loaded.model, loaded.facts, compile_options);
  log_info("compiled in {}", stopwatch.lap());
  if (!options.load_state.empty()) load_states(options.load_state, session);

  Json steps = Json::array();
  Progress progress(common, "run", options.steps);
  for (i64 step = 0; step < options.steps; ++step) {
    const auto values = inputs.step(step);
    for (const auto& note : inputs.take_notes())
      if (!common.quiet) fmt::print(stderr, "{} {}\n", common.err(Paint::note, "note:"), note);
    std::optional<Dump> dump;
    if (watch) {
      dump.emplace(with_step(options.dump_to, step), files);
      watch->into(*dump);
    }
    stopwatch.lap();
    std::vector<Tensor> got;
    try {
      got = session.run(values, watch ? &*watch : nullptr);
    } catch (...) {
      if (dump) dump->finish();  // what was computed before the fault may tell why
      throw;
    }
    log_info("step {} ran in {}", step, stopwatch.lap());
    progress.at(step + 1);
    progress.clear();

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
  if (!options.save_state.empty()) save_states(options.save_state, session);
  if (!steps.empty())
    print(options.steps > 1 ? json_text({{"schema", 1}, {"steps", std::move(steps)}}, 3)
                            : json_text({{"schema", 1}, {"outputs", std::move(steps[0])}}, 2));
  return kOk;
}

Action declare(Flags& flags) {
  const auto options = std::make_shared<Options>();
  auto& o = *options;
  flags.model(o);
  flags.shapes(o);
  add_inputs(flags, o);
  flags.number("--steps", o.steps, "N", "run N times, keeping states; {step} in a path is the step, from 0", 1);
  flags.text("--load-state", o.load_state, "FILE", "start with the states in this .npz");
  flags.text("--save-state", o.save_state, "FILE", "write the final states to this .npz");
  flags.choice("--tier", o.tier, {"fast", "reference"}, "TIER", "kernels to use").env("OVIR_TIER");
  flags.choice("--precision", o.precision, {"f32", "declared"}, "PRECISION",
               "compute narrower floats in f32, or round every value to its declared type");
  flags.number("--threads", o.threads, "N", "use at most N processors; the results do not depend on it", 1)
      .env("OVIR_THREADS");

  constexpr auto outputs = "Outputs";
  flags
      .text("-o,--output", o.output, "PATH",
            "write the outputs to dir/, out.npz, out.npy, out.json or - (npy on stdout); without -o they are printed")
      .group(outputs);
  flags.number("--top", o.top, "K", "print the K largest values of each output", 1).group(outputs);
  flags.text("--labels", o.labels, "FILE", "names for --top, one per line").group(outputs);
  flags.text("--dump", o.dump, "SELECTOR", "also write the outputs of these layers").group(outputs);
  flags.text("--dump-to", o.dump_to, "PATH", "where --dump writes: dir/ or all.npz").group(outputs);
  flags.toggle("--raw", o.raw, "keep the bits of element types that NumPy lacks instead of widening them")
      .group(outputs);
  flags.toggle("--digest", o.digest, "add a CRC-32 of each tensor to the manifest of dir/").group(outputs);
  flags.format(o.format, "human json");
  return [options](const Common& common) { return run(*options, common); };
}

}  // namespace

extern constinit const Command command{"run",
                                       CommandGroup::run,
                                       "run a model",
                                       "ovir run model.xml -i image=@cat.png --top 5 --labels labels.txt\n"
                                       "ovir run model.xml -i ids=@ids.npy -i mask=@mask.npy -o out/\n"
                                       "ovir run model.xml --random --dump 'type:MatMul' --dump-to dump/",
                                       {2, 3, 4, 5, 7},
                                       declare};

}  // namespace ovir::app::commands::run
