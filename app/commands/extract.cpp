// extract: a part of the model as a model of its own.
#include <cstdio>
#include <filesystem>

#include "base/quantity.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "io/files.hpp"
#include "model/report.hpp"
#include "render/diagnostics.hpp"
#include "render/json.hpp"
#include "tools/extract.hpp"

namespace ovir::app::commands::extract {
namespace {

struct Options : ModelOptions {
  std::string inputs, outputs, layers, output, format;
  std::vector<std::string> frozen;  ///< SELECTOR=FILE
};

template <class F>
auto selecting(std::string_view flag, F&& f) {
  try {
    return f();
  } catch (const tools::SelectorError& error) {
    throw UsageError(fmt::format("{}: {}", flag, error.what()));
  }
}

std::vector<ValueRef> values_at(const Common& common, std::string_view flag, const Model& model,
                                const std::string& selector, tools::End end, const Model*& part) {
  const auto constants = end == tools::End::outputs ? tools::Constants::spared : tools::Constants::selected;
  const auto selected = select_layers(common, model, flag, selector, constants, part ? part : &model);
  return selecting(flag, [&] { return tools::values_of(selected, end, part); });
}

/// `SELECTOR=@FILE`; a selector may hold an equals sign itself.
std::pair<ValueRef, Tensor> frozen_value(const Common& common, const Model& model, const std::string& word,
                                         const Model*& part) {
  const auto equals = word.rfind("=@");
  if (equals == word.npos) throw UsageError(fmt::format("--freeze {}: expected SELECTOR=@FILE", printable(word)));
  const auto values = values_at(common, "--freeze", model, word.substr(0, equals), tools::End::inputs, part);
  if (values.size() != 1)
    throw UsageError(fmt::format("--freeze {}: expected one tensor, not {}", printable(word), values.size()));
  return {values.front(), io::read_tensor(word.substr(equals + 2))};
}

/// A tensor from a file stands for the value that was computed: its type must be the same, its shape possible.
void require_fit(const Model& whole, const Facts& facts, const Model& part, std::pair<ValueRef, Tensor>& frozen) {
  const auto* const inferred = tools::facts_of(whole, facts, part);
  auto& [value, tensor] = frozen;
  if (inferred == nullptr || value.node >= std::ssize(inferred->outputs)) return;
  const auto& fact = inferred->of(value);
  if (contains(kNarrowFloat | set_of(ElementType::bf16, ElementType::i4, ElementType::u4, ElementType::u1), fact.type))
    tensor = convert(tensor, fact.type);  // NumPy lacks these: files have them widened
  if ((fact.type == ElementType::dynamic || fact.type == tensor.type()) && fact.shape.contains(tensor.shape())) return;
  fail(Code::E0703, "--freeze: expected {} for \"{}\", but the file has {}{}", describe(fact),
       printable(part.path + part[value.node].layer->name), name(tensor.type()), to_string(tensor.shape()));
}

tools::Cut cut_of(const Options& options, const Common& common, const Model& model, const Facts& facts) {
  tools::Cut cut;
  if (!options.layers.empty()) {
    const auto selected = select_layers(common, model, "--layers", options.layers);
    cut = selecting("--layers", [&] { return tools::around(selected, model, facts); });
  } else {
    if (!options.outputs.empty())
      cut.outputs = values_at(common, "--outputs", model, options.outputs, tools::End::outputs, cut.part);
    if (!options.inputs.empty())
      cut.inputs = values_at(common, "--inputs", model, options.inputs, tools::End::inputs, cut.part);
  }
  for (const auto& word : options.frozen) {
    auto frozen = frozen_value(common, model, word, cut.part);
    require_fit(model, facts, *cut.part, frozen);
    cut.frozen.push_back(std::move(frozen));
  }
  if (cut.part == nullptr) cut.part = &model;
  if (options.layers.empty() && options.outputs.empty()) cut.outputs = tools::results_of(*cut.part);
  if (cut.outputs.empty()) throw UsageError("extract: the selected layers give no output");
  return cut;
}

std::string name_of(const Model& part, int node) {
  return fmt::format("\"{}\"", printable(part.path + part[node].layer->name));
}

int extract(const Options& options, const Common& common) {
  if (!options.layers.empty() && !(options.inputs.empty() && options.outputs.empty()))
    throw UsageError("--layers: cannot be given together with --inputs or --outputs");
  if (options.layers.empty() && options.inputs.empty() && options.outputs.empty() && options.frozen.empty())
    throw UsageError("extract: expected --inputs, --outputs, --layers or --freeze");
  if (std::filesystem::path(options.output).extension() != ".xml")
    throw UsageError(fmt::format("-o {}: expected the name of an .xml file", printable(options.output)));
  const auto bin_path = std::filesystem::path(options.output).replace_extension(".bin").string();
  for (const auto& path : {options.output, bin_path}) keep_model(options.model, options.weights, "-o", path);

  // What is wrong elsewhere in the model may be what is cut away.
  Diagnostics ignored;
  const auto model = load(options.model, {options.weights, false}, ignored);
  if (!model || (model->nodes.empty() && ignored.errors() > 0)) throw Refused(std::move(ignored), options.model);
  const auto facts = ovir::infer(*model, {}, ignored);
  const auto cut = cut_of(options, common, *model, facts);
  const auto sub = tools::extract(*model, facts, cut);
  const auto& part = *cut.part;
  for (const auto& v : sub.unreached) note(common, fmt::format("no output needs the input {}", name_of(part, v.node)));
  if (!options.inputs.empty())
    for (const auto p : sub.parameters)
      note(common, fmt::format("the outputs also need the input {}, which stays", name_of(part, p)));

  StagedFiles files;
  std::vector<std::span<const std::byte>> bin;
  std::size_t bytes = 0;
  for (const auto& piece : sub.bin) {
    bin.push_back(piece.view);
    bytes += piece.size();
  }
  const auto xml = std::as_bytes(std::span(sub.xml));
  io::stage_file(files, bin_path, bin);
  io::stage_file(files, options.output, {&xml, 1});
  if (!common.quiet) require_stdout();
  io::commit_files(files);

  // What was written is what is judged.
  Diagnostics after;
  const auto written = load(options.output, {}, after);
  if (written) ovir::infer(*written, {}, after);
  if (!written) throw Refused(std::move(after), options.output);
  const auto status = report(after, options.output, common);
  if (options.format == "json") {
    auto inputs = Json::array(), outputs = Json::array();
    for (int k = 0; k < std::ssize(written->parameters); ++k) inputs.push_back(written->parameter_name(k));
    for (int k = 0; k < std::ssize(written->results); ++k) outputs.push_back(written->result_name(k));
    print(json_text({{"schema", 1},
                     {"output", options.output},
                     {"layers", written->nodes.size()},
                     {"inputs", inputs},
                     {"outputs", outputs},
                     {"weights", bytes},
                     {"errors", after.errors()},
                     {"warnings", after.warnings()},
                     {"diagnostics", diagnostics_json({after, {options.output, 0}})}},
                    1));
  } else if (!common.quiet) {
    print(fmt::format("{}: {}, {}, {}, {} of weights\n", printable(options.output),
                      counted(written->nodes.size(), "layer"), counted(written->parameters.size(), "input"),
                      counted(written->results.size(), "output"), size_text(bytes)));
  }
  return status;
}

Action declare(Flags& flags) {
  const auto options = std::make_shared<Options>();
  auto& o = *options;
  flags.model(o);
  flags.selector("--inputs", o.inputs, "the outputs of these layers become inputs; default: the model's own inputs");
  flags.selector("--outputs", o.outputs,
                 "the outputs of these layers become outputs; default: the model's own outputs");
  flags.selector("--layers", o.layers,
                 "just these layers, with the constants that they need, instead of --inputs and --outputs");
  flags.list("--freeze", o.frozen, "SELECTOR=@FILE",
             "the output of this layer becomes a Constant with the values of a file: 'tensor:split:0=@dump.npz:key'");
  flags.text("-o,--output", o.output, "FILE", "the .xml to write; its .bin is written beside it").required();
  flags.format(o.format, "human json");
  return [options](const Common& common) { return extract(*options, common); };
}

}  // namespace

extern constinit const Command command{"extract",
                                       CommandGroup::check,
                                       "cut out a part of the model as a model of its own",
                                       "ovir extract model.xml --inputs conv1 --outputs relu5 -o part.xml\n"
                                       "ovir extract model.xml --layers 'loop1/body/*' -o body.xml",
                                       {2, 3, 4, 5, 7},
                                       declare};

}  // namespace ovir::app::commands::extract
