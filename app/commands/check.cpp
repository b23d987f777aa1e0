// check: everything that can be said of a model without running it.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <tuple>

#include "base/text.hpp"
#include "command.hpp"
#include "log.hpp"
#include "render/diagnostics.hpp"
#include "render/fixes.hpp"
#include "render/json.hpp"
#include "render/reshapeable.hpp"
#include "tools/lower.hpp"
#include "tools/portability.hpp"
#include "tools/releases.hpp"
#include "tools/sample_shapes.hpp"

namespace ovir::app::commands::check {
namespace {

struct Options : ModelOptions {
  std::string format;
  std::vector<std::string> models, deny, allow;
  i64 max_errors = 0;
  bool strict = false, ops = false, reshapeable = false, portability = false;
};

std::vector<Code> codes(std::string_view flag, const std::vector<std::string>& texts) {
  std::vector<Code> list;
  for (const auto& text : texts) {
    for (const auto part : split(text, ',')) {
      const auto code = parse_code(trim(part));
      if (!code)
        throw UsageError(fmt::format("{}: unknown code '{}'; 'ovir explain' lists the codes", flag, printable(part)));
      list.push_back(*code);
    }
  }
  return list;
}

bool holds(const std::vector<Code>& list, Code code) { return std::find(list.begin(), list.end(), code) != list.end(); }

/// The stages find faults in their own order.
Diagnostics in_file_order(const Diagnostics& found) {
  auto list = found.all();
  // A .bin that is too short or something else comes first: what follows from its values is a consequence.
  const auto place = [](const Diagnostic& d) {
    return std::tuple(d.code < Code::E0301 || d.code > Code::E0304,
                      d.at ? std::string_view(d.at.file->path) : std::string_view(), d.at.offset);
  };
  std::stable_sort(list.begin(), list.end(),
                   [&](const Diagnostic& a, const Diagnostic& b) { return place(a) < place(b); });
  Diagnostics sorted;
  for (auto& d : list) sorted.add(std::move(d));
  sorted.dependents = found.dependents;
  return sorted;
}

/// An operation that keeps the model from running, and the layers that use it.
struct Unsupported {
  std::string reason;
  std::vector<const Layer*> layers;
};
using UnsupportedMap = std::map<std::pair<std::string, std::string>, Unsupported>;

void collect(const Model& model, const Diagnostics& diagnostics, UnsupportedMap& map) {
  for (const auto& node : model.nodes) {
    for (const auto& body : node.bodies) collect(*body, diagnostics, map);
    const bool runs = node.version && (node.version->eval || node.op->kind != Kind::compute);
    if (runs) continue;
    auto& entry = map[{node.layer->type, node.layer->version}];
    entry.layers.push_back(node.layer);
    if (!entry.reason.empty()) continue;
    if (node.version) entry.reason = "no kernel";
    for (const auto& d : diagnostics.all())
      if (d.layer && d.layer->id == node.layer->id_text && d.layer->path == model.path &&
          ovir::info(d.code).exit_status == 4)
        entry.reason = d.message;
  }
}

/// The operations that ovir cannot run, all of them at once, with their layer counts.
int list_operations(const Options& options, const Model& model, const Diagnostics& diagnostics) {
  UnsupportedMap map;
  collect(model, diagnostics, map);
  std::size_t layers = 0;
  for (const auto& [key, entry] : map) layers += entry.layers.size();
  if (options.format == "json") {
    Json out{{"schema", 1}, {"model", options.model}, {"unsupported", Json::array()}};
    for (const auto& [key, entry] : map) {
      Json names = Json::array();
      for (const auto* layer : entry.layers) names.push_back(layer->name);
      out["unsupported"].push_back({{"type", key.first},
                                    {"version", key.second},
                                    {"count", entry.layers.size()},
                                    {"reason", entry.reason},
                                    {"layers", names}});
    }
    add_release(out, tools::minimum_release(model));
    print(json_text(out, 2));
  } else {
    std::string out;
    for (const auto& [key, entry] : map)
      out += fmt::format("{:>6}  {} ({}): {}\n", entry.layers.size(), printable(key.first), printable(key.second),
                         entry.reason);
    out += map.empty()
               ? fmt::format("all {} are supported\n", counted(count_layers(model), "layer"))
               : fmt::format("{} in {} unsupported\n", counted(map.size(), "operation"), counted(layers, "layer"));
    out += to_string(tools::minimum_release(model)) + "\n";
    print(out);
  }
  return map.empty() ? kOk : 4;
}

int list_reshapeable(const Options& options, const Model& model, const Common& common) {
  const auto found = tools::reshapeable(model, infer_options(options, model));
  const bool weights = !options.no_weights;
  print(options.format == "json" ? reshapeable_json(model, found, options.model, weights)
                                 : reshapeable_text(model, found, options.model, weights, common.out));
  return kOk;
}

/// What was found in one model.
struct Checked {
  Options options;  ///< with the path of this model
  std::shared_ptr<const Model> model;
  Diagnostics diagnostics;
  Diagnostics shown;  ///< without those that have the same cause as another
  tools::Fixes fixes;
  std::size_t layers() const { return model ? count_layers(*model) : 0; }
};

Checked check_model(const Options& options) {
  Checked checked{options, nullptr, {}, {}, {}};
  auto& found = checked.diagnostics;
  Stopwatch watch;
  try {
    checked.model = load(options.model, {options.weights, options.no_weights}, found);
  } catch (const Failure& failure) {  // another model may still be read
    found.add(failure.diagnostic);
  }
  log_info("read {} in {}", options.model, watch.lap());
  const auto& model = checked.model;
  if (options.ops && model) return checked;
  if (model) {
    const auto facts = ovir::infer(*model, infer_options(options, *model), found);
    if (!options.release.empty()) tools::check_release(*model, options.release, found);
    if (options.portability) tools::check_portability(*model, facts, found);
  }
  log_info("inferred in {}", watch.lap());

  found = in_file_order(found);
  if (options.format != "short" && model) {
    checked.fixes = tools::find_fixes(*model, subject_of(options, *model), found);
    add_help(found, *model, checked.fixes, options);
  }
  log_info("tried changes in {}", watch.lap());
  const auto denied = codes("--deny", options.deny), allowed = codes("--allow", options.allow);
  std::erase_if(checked.fixes.list,
                [&](const tools::Fix& fix) { return holds(allowed, found.all()[fix.diagnostic].code); });
  checked.shown = without_consequences(found, checked.fixes);
  for (auto* list : {&found, &checked.shown}) {
    list->drop_warnings([&](const Diagnostic& d) { return holds(allowed, d.code); });
    list->promote(
        [&](const Diagnostic& d) { return holds(denied, d.code) || (options.strict && d.code == Code::W0901); });
  }
  return checked;
}

/// The shapes nearest to those of --shape that the model accepts, where it refuses these.
std::string nearest_shapes_line(const Checked& checked, const Style& style) {
  if (checked.options.shapes.empty() || !checked.model || !checked.model->complete) return {};
  std::map<int, Shape> refused;
  for (const auto& [k, shape] : infer_options(checked.options, *checked.model).shapes) {
    if (!shape.is_static()) return {};
    refused.emplace(k, shape.to_shape());
  }
  const auto nearest = tools::nearest_shapes(*checked.model, refused);
  const auto words = [&](const std::vector<Shape>& shapes) {
    std::string list;
    for (const auto& [k, unused] : refused) {
      const bool alone = checked.model->parameters.size() == 1;
      list += fmt::format("{}{}{}", list.empty() ? "" : ",", alone ? "" : checked.model->parameter_name(k),
                          to_string(shapes[k]));
    }
    return fmt::format("--shape {}", shell_word(list));
  };
  std::string out;
  for (const auto* shapes : {&nearest.below, &nearest.above})
    if (*shapes) out += (out.empty() ? "" : " and ") + words(**shapes);
  if (out.empty()) return {};
  return fmt::format("{} the nearest {} that the model accepts: {} (verified)\n", style(Paint::help, "help:"),
                     nearest.below && nearest.above ? "shapes" : "shape", out);
}

void print_for_people(const Checked& checked, const ReportOptions& form, bool several, const Common& common) {
  const auto& found = checked.diagnostics;
  auto text = checked.options.format == "short"
                  ? short_form(found, form, common.err)
                  : human(checked.shown, form, common.err) + fix_line(checked.fixes, checked.options, common.err);
  if (found.errors() > 0 && checked.options.format != "short") text += nearest_shapes_line(checked, common.err);
  if (!common.quiet || found.errors() > 0) std::fwrite(text.data(), 1, text.size(), stderr);
  if (!common.quiet)
    print((several ? printable(checked.options.model) + ": " : "") +
          closing_line(found, checked.layers(), common.out, checked.options.no_weights));
}

/// The .xml files that are meant: a folder stands for all below it.
std::vector<std::string> model_files(const std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  for (const auto& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    const auto first = std::ssize(files);
    for (fs::recursive_directory_iterator at(path, error), end; !error && at != end; at.increment(error))
      if (at->path().extension() == ".xml" && at->is_regular_file(error)) files.push_back(at->path().string());
    if (error) fail(Code::E0001, "cannot read the folder {}: {}", printable(path), error.message());
    if (std::ssize(files) == first) fail(Code::E0001, "{} has no .xml file in it", printable(path));
    std::sort(files.begin() + first, files.end());
  }
  return files;
}

int check(const Options& options, const Common& common) {
  for (const auto code : codes("--allow", options.allow))
    if (severity(code) == Severity::error)
      throw UsageError(fmt::format("--allow: {} is an error; only warnings can be allowed", to_string(code)));
  for (const auto code : codes("--deny", options.deny))
    if (severity(code) != Severity::warning)
      throw UsageError(fmt::format("--deny: {} is {}; only warnings can be denied", to_string(code),
                                   severity(code) == Severity::error ? "an error already" : "a note"));
  require_release(options);
  if (options.ops && options.reshapeable) throw UsageError("--ops and --reshapeable exclude each other");
  for (const auto& [flag, given] : {std::pair("--ops", options.ops), std::pair("--reshapeable", options.reshapeable)})
    if (given && options.format != "human" && options.format != "json")
      throw UsageError(fmt::format("{}: expected --format human or json, not '{}'", flag, options.format));

  const auto files = model_files(options.models);
  std::error_code ignored;
  const bool several = files.size() > 1 || std::filesystem::is_directory(options.models.front(), ignored);
  for (const auto& [flag, given] : {std::pair("--weights", !options.weights.empty()), std::pair("--ops", options.ops),
                                    std::pair("--reshapeable", options.reshapeable)})
    if (several && given) throw UsageError(fmt::format("{} takes one model, not {}", flag, files.size()));

  std::vector<ModelReport> reports;
  int status = kOk;
  for (const auto& file : files) {
    auto one = options;
    one.model = file;
    const auto checked = check_model(one);
    if (options.ops && checked.model) return list_operations(one, *checked.model, checked.diagnostics);
    if (options.reshapeable && checked.model && checked.diagnostics.errors() == 0)
      return list_reshapeable(one, *checked.model, common);
    const ReportOptions form{file, static_cast<std::size_t>(options.max_errors)};
    if (options.format == "human" || options.format == "short") print_for_people(checked, form, several, common);
    else if (options.format == "github") print(github(checked.diagnostics, form));
    else reports.push_back({checked.diagnostics, form});
    const auto this_status = exit_status(checked.diagnostics);
    status = status == kOk ? this_status : this_status == kOk ? status : std::min(status, this_status);
  }
  if (options.format == "sarif") print(sarif(reports));
  if (options.format == "json") print(several ? json(reports) : json(reports.front()));
  return status;
}

Action declare(Flags& flags) {
  const auto options = std::make_shared<Options>();
  auto& o = *options;
  flags.models(o.models, o);
  flags.shapes(o);
  flags.format(o.format, "human short json sarif github");
  flags.toggle("--no-weights", o.no_weights, "do not read the .bin");
  flags.toggle("--strict", o.strict,
               "treat declared shapes and types that contradict the inferred ones (W0901) as errors");
  flags.list("-D,--deny", o.deny, "CODE", "treat this warning as an error");
  flags.list("-A,--allow", o.allow, "CODE", "do not report this warning");
  flags.number("--max-errors", o.max_errors, "N", "show at most N errors; 0, the default, shows all");
  flags.text("--for", o.release, "RELEASE", "also report what keeps OpenVINO RELEASE (2023.3) from reading the model");
  flags.toggle("--portability", o.portability, "also list layers whose results differ in OpenVINO's CPU plugin");
  flags.toggle("--ops", o.ops, "only list unsupported operations, with layer counts");
  flags.toggle("--reshapeable", o.reshapeable,
               "only list which lengths the axes of the inputs may have, and what forbids others");
  return [options](const Common& common) { return check(*options, common); };
}

}  // namespace

extern constinit const Command command{"check",
                                       CommandGroup::check,
                                       "check a model without running it",
                                       "ovir check model.xml\n"
                                       "ovir check model.xml --shape 'image[1,3,?,?]'\n"
                                       "ovir check model.xml --reshapeable\n"
                                       "ovir check models/ --format sarif >check.sarif",
                                       {2, 3, 4, 7},
                                       declare};

}  // namespace ovir::app::commands::check
