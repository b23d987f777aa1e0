// edit: a model with changes. The .xml keeps every byte that no change concerns; the .bin keeps its layout.
#include <cstdio>
#include <filesystem>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "io/files.hpp"
#include "log.hpp"
#include "names.hpp"
#include "random_input.hpp"
#include "render/diagnostics.hpp"
#include "render/fixes.hpp"
#include "render/json.hpp"
#include "sub_model_files.hpp"
#include "tensor_files.hpp"
#include "tools/changed_bin.hpp"
#include "tools/cut.hpp"
#include "tools/lower.hpp"
#include "tools/rewrite.hpp"
#include "tools/select.hpp"
#include "xml/tags.hpp"

namespace ovir::app::commands::edit {
namespace {

struct Options : ModelOptions {
  std::vector<std::string> constants;        ///< NAME=VALUES
  std::vector<std::string> inputs, outputs;  ///< OLD=NEW
  std::string added;                         ///< a selector
  std::string output, format;
  bool fix = false;
};

/// `NAME=VALUES`; a name may hold an equals sign itself.
tools::ConstantChange constant_change(const Model& model, const std::string& word) {
  const auto equals = word.rfind('=');
  if (equals == word.npos) throw UsageError(fmt::format("--set-const {}: expected NAME=VALUES", printable(word)));
  const auto name = word.substr(0, equals);
  try {
    return tools::change_constant(model, name, word.substr(equals + 1));
  } catch (Failure& failure) {
    failure.diagnostic.message = fmt::format("--set-const {}: {}", printable(name), failure.diagnostic.message);
    throw;
  } catch (const tools::SelectorError& error) {
    throw UsageError(fmt::format("--set-const: {}", error.what()));
  }
}

std::string bin_beside(const std::string& xml) { return std::filesystem::path(xml).replace_extension(".bin").string(); }

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return std::filesystem::equivalent(a, b, error);
}

void say(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stderr); }

/// The model as far as it is changed: the text has its changes, the constants are in `edits`.
struct Work {
  std::shared_ptr<const Model> model;
  tools::Edits edits;
  std::size_t changes = 0;
};

/// The file as it is in memory. The shapes of -s are in its text by then.
tools::CheckedModel subject(const Work& work, const Options& options) {
  return {work.model->graph->source, {options.weights, options.no_weights}, {}, options.release};
}

void rewrite(Work& work, const std::vector<Replacement>& replacements, const Options& options) {
  if (replacements.empty()) return;
  const auto& source = *work.model->graph->source;
  const auto text = std::make_shared<const std::string>(tools::apply(source.text, replacements));
  Diagnostics unused;
  work.model = load(std::make_shared<const SourceFile>(SourceFile{source.path, text, *text}),
                    {options.weights, options.no_weights}, unused);
}

/// `OLD=NEW`, split at the first `=` whose left side means something.
template <class Find>
std::pair<int, std::size_t> renamed(std::string_view word, Find&& find) {
  for (auto at = word.find('='); at != word.npos; at = word.find('=', at + 1))
    if (const auto k = find(word.substr(0, at))) return {*k, at};
  return {-1, word.find('=')};
}

/// The changes of names and outputs.
tools::Edits interface_edits(const Model& model, const Options& options, const Common& common) {
  tools::Edits edits;
  const auto rename = [&](std::string_view flag, const std::string& word, auto&& find, auto&& unknown, auto&& apply) {
    const auto [k, at] = renamed(word, [&](std::string_view name) { return find(model, name); });
    if (at == word.npos) throw UsageError(fmt::format("{} {}: expected OLD=NEW", flag, printable(word)));
    if (k < 0) throw UsageError(fmt::format("{}: {}", flag, unknown(model, word.substr(0, at))));
    try {
      edits.append(apply(model, k, std::string_view(word).substr(0, at), std::string_view(word).substr(at + 1)));
    } catch (const tools::SelectorError& error) {
      throw UsageError(fmt::format("{} {}: {}", flag, printable(word), error.what()));
    }
    if (!edits.disjoint()) throw UsageError(fmt::format("{} {}: this is renamed twice", flag, printable(word)));
  };
  for (const auto& word : options.inputs)
    rename("--rename-input", word, find_input, unknown_input, tools::rename_input);
  for (const auto& word : options.outputs)
    rename("--rename-output", word, find_output, unknown_output, tools::rename_output);
  if (options.added.empty()) return edits;
  const auto selected = select_layers(common, model, "--add-output", options.added, tools::Constants::spared, &model);
  try {
    const Model* part = &model;
    Diagnostics unused;
    const auto values = tools::values_of(selected, tools::End::outputs, part);
    const auto added = tools::add_outputs(model, ovir::infer(model, {}, unused), values);
    if (added.texts.empty()) note(common, "--add-output: all that it selects are outputs already");
    edits.append(added);
  } catch (const tools::SelectorError& error) {
    throw UsageError(fmt::format("--add-output: {}", error.what()));
  }
  return edits;
}

/// Makes what changes can be proven to cure something; false where there are none.
bool fix(Work& work, const Options& options, const Common& common) {
  const auto now = subject(work, options);
  const auto found = tools::check(now, work.edits);
  auto fixes = tools::find_fixes(*work.model, now, found, work.edits);
  if (fixes.list.empty()) return false;
  Places places(options.model);
  for (const auto& fix : fixes.list) {
    const auto& d = found.all()[fix.diagnostic];
    if (!common.quiet)
      say(fmt::format("{}: {} {}: {}\n", places.text(fix.edits.texts.empty() ? d.at : fix.edits.texts.front().at),
                      common.err(Paint::help, "fixed"), to_string(d.code), describe(fix.remedy)));
  }
  work.changes += fixes.list.size();
  rewrite(work, fixes.edits.texts, options);
  work.edits.constants = std::move(fixes.edits.constants);
  return true;
}

/// Both files or none. Links stay, and what they mean is replaced.
void save(const Work& work, const std::string& path) {
  const auto& graph = *work.model->graph;
  auto [pieces, offsets] = tools::changed_bin(*work.model, work.edits.constants);
  const auto bin = bin_beside(path);
  make_parent(path);
  StagedFiles files;
  if (graph.weights && (!work.edits.constants.empty() || !same_file(bin, graph.weights_path)))
    stage_pieces(files, behind_links(bin), pieces);
  offsets.insert(offsets.end(), work.edits.texts.begin(), work.edits.texts.end());
  const auto text = tools::apply(graph.source->text, std::move(offsets));
  const auto part = std::as_bytes(std::span(text));
  io::stage_file(files, behind_links(path), {&part, 1});
  io::commit_files(files);
}

/// The most elements of an input that a comparison makes up.
constexpr i64 kMaxCompared = i64{1} << 24;

/// Whether the lowered layers compute the same: both models run on the same random data. A model whose inputs have open
/// lengths, or very great ones, is not run.
void compare_results(const std::shared_ptr<const Model>& original, const Work& work, const Options& options,
                     const Common& common) {
  if (options.release.empty() || work.changes == 0 || !work.edits.constants.empty() || options.no_weights) return;
  Diagnostics diagnostics;
  const auto facts = ovir::infer(*original, {}, diagnostics);
  if (diagnostics.errors() > 0 || !original->complete) return;
  std::vector<Tensor> inputs;
  for (int k = 0; k < std::ssize(original->parameters); ++k) {
    const auto& fact = facts.of({original->parameters[k], 0});
    if (!fact.shape.is_static())
      return note(common, fmt::format("the results were not compared: input \"{}\" has open lengths",
                                      printable(original->parameter_name(k))));
    const auto shape = fact.shape.to_shape();
    if (const auto count = checked_product(shape); !count || *count > kMaxCompared)
      return note(common, fmt::format("the results were not compared: input \"{}\" has shape {}",
                                      printable(original->parameter_name(k)), to_string(shape)));
    inputs.push_back(random_input(*original, facts, k, shape, 0).tensor);
  }
  if (const auto output = tools::differing_output(original, work.model, inputs))
    fail(Code::E0606, "the lowered model computes another \"{}\" from random data; nothing was written",
         printable(*output));
  note(common, "the changed model computes the same from random data");
}

int edit(const Options& options, const Common& common) {
  require_release(options);
  if (!options.release.empty() && !options.fix) throw UsageError("--for needs --fix");
  if (!options.fix && options.constants.empty() && options.shapes.empty() && options.inputs.empty() &&
      options.outputs.empty() && options.added.empty())
    throw UsageError(
        "edit: nothing to change; expected --fix, --shape, --set-const, --add-output, --rename-input or "
        "--rename-output");
  if (std::filesystem::path(options.output).extension() != ".xml")
    throw UsageError(fmt::format("-o {}: expected the name of an .xml file", printable(options.output)));
  Diagnostics found;
  Work work{load(options.model, {options.weights, options.no_weights}, found), {}, 0};
  if (!work.model) throw Refused(std::move(found), options.model);
  const auto original = work.model;

  for (const auto& word : options.constants) {
    work.edits.constants.push_back(constant_change(*work.model, word));
    if (!work.edits.disjoint())
      throw UsageError(fmt::format("--set-const {}: this constant is set twice", printable(word)));
  }
  const auto shapes = infer_options(options, *work.model).shapes;  // by the names that the file has
  const auto results = work.model->results.size();
  rewrite(work, interface_edits(*work.model, options, common).texts, options);
  work.changes = work.edits.constants.size() + options.inputs.size() + options.outputs.size() +
                 work.model->results.size() - results;
  if (!shapes.empty()) {
    const auto edits = tools::reshape(*work.model, shapes);
    work.changes += edits.texts.size();
    rewrite(work, edits.texts, options);
  }
  // Fixes can expose further faults: at most three rounds.
  for (int round = 0; options.fix && round < 3 && fix(work, options, common); ++round) {
  }

  const auto outcome = [&](bool written, const std::string& model, const Diagnostics& found) {
    if (options.format == "json")
      print(json_text({{"schema", 1},
                       {"output", options.output},
                       {"written", written},
                       {"changes", work.changes},
                       {"errors", found.errors()},
                       {"warnings", found.warnings()},
                       {"diagnostics", diagnostics_json({found, {model, 0}})}},
                      3));
    else if (written && !common.quiet)
      print(fmt::format("{}: {}\n", printable(options.output), counted(work.changes, "change")));
  };
  const auto left = tools::check(subject(work, options), work.edits);
  const bool useless = options.fix && work.changes == 0,
             harmful = !options.shapes.empty() || !options.constants.empty();
  if (work.changes == 0 || (left.errors() > 0 && (useless || harmful))) {
    const auto status = report(left, options.model, common);
    if (!common.quiet || left.errors() > 0)
      say(fmt::format("{} {}{} was not written\n", common.err(Paint::note, "note:"),
                      work.changes == 0 ? "nothing to change; " : "", printable(options.output)));
    outcome(false, options.model, left);
    return status;
  }
  if (left.errors() == 0) compare_results(original, work, options, common);
  if (!common.quiet) require_stdout();
  save(work, options.output);

  // What was written is what is judged.
  Diagnostics after;
  if (const auto written = load(options.output, {{}, options.no_weights}, after)) {
    ovir::infer(*written, {}, after);
    if (!options.release.empty()) tools::check_release(*written, options.release, after);
  }
  const auto status = report(after, options.output, common);
  outcome(true, options.output, after);
  return status;
}

Action declare(Flags& flags) {
  const auto options = std::make_shared<Options>();
  auto& o = *options;
  flags.model(o);
  flags.shapes(o);
  flags.text(
      "--for", o.release, "RELEASE",
      "with --fix: replace operations that OpenVINO RELEASE, such as 2023.3, cannot read with older versions that "
      "compute the same");
  flags.toggle("--fix", o.fix, "make the changes that 'ovir check' offers as help");
  flags.list("--set-const", o.constants, "NAME=VALUES", "replace all values of a Constant: shape_3=-1,4,64");
  flags.selector("--add-output", o.added, "the outputs of these layers become outputs of the model as well");
  flags.list("--rename-input", o.inputs, "OLD=NEW", "give an input another name");
  flags.list("--rename-output", o.outputs, "OLD=NEW", "give an output another name");
  flags.text("-o,--output", o.output, "FILE", "the .xml to write; its .bin is written beside it").required();
  flags.format(o.format, "human json");
  return [options](const Common& common) { return edit(*options, common); };
}

}  // namespace

extern constinit const Command command{"edit",
                                       CommandGroup::check,
                                       "edit a model, touching only the lines that must change",
                                       "ovir edit model.xml --fix -o fixed.xml\n"
                                       "ovir edit model.xml --set-const shape_3=-1,4,64 -o b.xml\n"
                                       "ovir edit model.xml --add-output 'type:Relu' --rename-input 0=image -o c.xml",
                                       {2, 3, 4, 5, 7},
                                       declare};

}  // namespace ovir::app::commands::edit
