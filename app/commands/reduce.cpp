// reduce: the smallest sub-model that still fails.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "check_command.hpp"
#include "command.hpp"
#include "log.hpp"
#include "progress.hpp"
#include "render/comparison.hpp"
#include "sub_model_files.hpp"
#include "subject.hpp"
#include "tools/reduce.hpp"
#include "tools/traps.hpp"

namespace ovir::app::commands::reduce {
namespace {

struct Options : SubjectOptions {
  std::string format, check, trap, output = "reduced.xml";
  bool anonymize = false;
};

/// What fails, where it is known to, and how to see it in a candidate.
struct Failing {
  std::optional<tools::TensorPlace> suspect;
  bool any = false;     ///< the whole model fails
  bool numbers = true;  ///< the failure may be there with other weights
  tools::Fails fails;
  tools::Reference values;
};

/// What the run computes; of one that fails, what it had computed.
tools::Reference values_of_run(Subject& subject) {
  tools::Reference values;
  try {
    tools::keep_values(*subject.session, subject.inputs, values);
  } catch (const Failure& failure) {
    log_info("the model's own run failed: {}", failure.what());
  }
  return values;
}

/// A layer that is wrong by itself.
Failing against_reference(Subject& subject, const Options& options) {
  Failing failing;
  const auto found = tools::bisect(*subject.session, subject.inputs, subject.reference, subject.allowance).found;
  if (!found) return failing;
  failing.any = true;
  failing.suspect = found->own.place;
  failing.values = values_of_run(subject);
  for (const auto& [place, read] : subject.reference.tensors()) failing.values.put(place, read);
  const bool own_tier = options.reference.empty();
  failing.numbers = own_tier;
  const auto iterations = found->own.place.iterations;
  const bool constant = found->own.place.at().op->kind == Kind::constant;
  failing.fails = [&, iterations, own_tier, constant](const tools::Candidate& candidate) {
    if (!candidate.facts.sound) return false;
    auto session = compile(candidate.model, candidate.facts, compile_options(options, subject.limited));
    const auto reference = own_tier ? reference_run(candidate.model, candidate.facts, {}, options, subject.limited)
                                    : tools::reference_for(candidate, subject.reference, iterations);
    const auto errors = tools::own_errors(session, {}, reference, {subject.allowance, true});
    return std::any_of(errors.begin(), errors.end(), [&](const tools::OwnError& e) {
      return e.judgment == tools::OwnVerdict::wrong && (e.place.at().op->kind == Kind::constant) == constant;
    });
  };
  return failing;
}

/// A command that ends with the same code for a candidate as for the model.
Failing against_command(Subject& subject, const CheckCommand& command, const Options& options) {
  Failing failing;
  const int status = command.status_of(options.model);
  if (status == 126 || status == 127)
    throw UsageError(
        fmt::format("--check: the shell cannot run '{}' (exit code {})", printable(options.check), status));
  if (status == 0) return failing;
  failing.any = true;
  failing.values = values_of_run(subject);
  failing.fails = [&command, status](const tools::Candidate& candidate) {
    return command.status_of(candidate.text) == status;
  };
  return failing;
}

/// The first event of these traps, at the same kind of which a candidate fails.
Failing against_traps(Subject& subject, const Options& options) {
  Failing failing;
  tools::Traps traps;
  try {
    traps = tools::parse_traps(options.trap);
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("--trap: {}", error.what()));
  }
  const auto how = compile_options(options, subject.limited);
  const auto event = tools::first_trap(subject.model, subject.facts, subject.inputs, traps, how);
  if (!event) return failing;
  failing.any = true;
  failing.suspect = tools::TensorPlace{event->at.model, event->at.node, 0, event->at.iterations};
  failing.values = values_of_run(subject);
  tools::Traps same;
  same.add(event->trap);
  failing.fails = [same, how](const tools::Candidate& candidate) {
    // What a trap finds in a run, the check may find already where the values are constants.
    if (!candidate.facts.sound) return same.has(tools::Trap::oob);
    return tools::first_trap(candidate.model, candidate.facts, {}, same, how).has_value();
  };
  return failing;
}

Json result_json(const Options& options, const tools::Candidate* smallest) {
  const auto [layers, constants] =
      smallest ? tools::count_reduced(*smallest->model) : std::pair<std::size_t, std::size_t>(0, 0);
  return {{"schema", 1},
          {"model", smallest ? Json(options.output) : Json()},
          {"layers", layers},
          {"constants", constants},
          {"reproduces", smallest != nullptr}};
}

std::string result_text(const Options& options, const tools::Candidate& smallest, int tried) {
  const auto [layers, constants] = tools::count_reduced(*smallest.model);
  auto text = fmt::format("{}: {} and {}; {} tried\n", printable(options.output), counted(layers, "layer"),
                          counted(constants, "constant"), counted(tried, "sub-model"));
  for (const auto& node : smallest.model->nodes)
    if (node.op->kind == Kind::compute || node.op->kind == Kind::read_value)
      text += fmt::format("  layer {} \"{}\" ({})\n", printable(node.layer->id_text), printable(node.layer->name),
                          printable(node.layer->type));
  return text;
}

int run(const Options& options, const Common& common) {
  if (int{!options.check.empty()} + int{!options.trap.empty()} + int{!options.reference.empty()} > 1)
    throw UsageError("reduce: --check, --trap and --ref cannot be given together");
  if (std::filesystem::path(options.output).extension() != ".xml")
    throw UsageError(fmt::format("-o {}: expected the name of an .xml file", printable(options.output)));
  keep_model(options.model, options.weights, "-o", options.output);
  keep_model(options.model, options.weights, "-o",
             std::filesystem::path(options.output).replace_extension(".bin").string());
  std::optional<CheckCommand> command;
  if (!options.check.empty()) command.emplace(options.check);

  auto subject = prepare(options, common, !command && options.trap.empty());
  std::optional<Progress> progress(std::in_place, common, "reduce");
  const auto failing = [&] {
    if (command) return against_command(subject, *command, options);
    return options.trap.empty() ? against_reference(subject, options) : against_traps(subject, options);
  }();
  tools::ReducedModel reduction;
  if (failing.any) {
    tools::ReduceInput input{*subject.model, subject.facts, subject.model.get(), {}, {}, failing.values};
    if (failing.suspect) {
      input.part = failing.suspect->model;
      input.iterations = failing.suspect->iterations;
      input.suspect = failing.suspect->node;
    }
    reduction = tools::reduce(input, failing.fails);
  }
  progress.reset();
  if (!reduction.smallest) {
    if (options.format == "json") print(json_text(result_json(options, nullptr), 1));
    else print(failing.any ? "no sub-model fails as the model does\n" : "the model does not fail\n");
    return kDiffers;
  }
  auto smallest = *std::move(reduction.smallest);
  if (options.anonymize) smallest = tools::anonymized(smallest, failing.numbers, failing.fails);
  require_stdout();
  write_model(options.output, smallest.text);
  print(options.format == "json" ? json_text(result_json(options, &smallest), 1)
                                 : result_text(options, smallest, reduction.tried));
  return kOk;
}

Action declare(Flags& flags) {
  const auto options = std::make_shared<Options>();
  auto& o = *options;
  flags.model(o);
  add_subject(flags, o);
  constexpr auto failures = "Failure";
  flags
      .text("--check", o.check, "CMD",
            "a command that fails for the model, {model} in it being its path; a sub-model fails where the exit code "
            "is the same")
      .group(failures);
  flags
      .text("--trap", o.trap, "LIST",
            "an event of `ovir run --trap`: nan, inf, oob, div0, overflow, domain, f16, bf16, uninit")
      .group(failures);
  flags.list("--rtol", o.rtol, "[LAYER:]V", "with a reference: also allow this relative error").group(failures);
  flags.list("--atol", o.atol, "[LAYER:]V", "with a reference: also allow this absolute error").group(failures);
  flags.text("-o,--output", o.output, "FILE", "the sub-model's .xml, beside it its .bin; default: reduced.xml");
  flags.toggle("--anonymize", o.anonymize,
               "rename layers and tensors, and replace weights by random ones where the failure stays; with saved "
               "tensors as the reference the weights stay");
  flags.format(o.format, "human json");
  return [options](const Common& common) { return run(*options, common); };
}

}  // namespace

extern constinit const Command command{"reduce",
                                       CommandGroup::run,
                                       "find the smallest sub-model that still fails",
                                       "ovir reduce model.xml -i x=@x.npy --ref ref/ -o small.xml\n"
                                       "ovir reduce model.xml --random --check 'python3 crashes.py {model}'\n"
                                       "ovir reduce model.xml -i x=@x.npy --precision declared --anonymize",
                                       {1, 2, 3, 4, 5, 7},
                                       declare};

}  // namespace ovir::app::commands::reduce
