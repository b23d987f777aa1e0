// check: everything that can be said of a model without running it.
#include <algorithm>
#include <cstdio>
#include <map>

#include "base/text.hpp"
#include "command.hpp"
#include "log.hpp"
#include "render/diagnostics.hpp"
#include "render/fixes.hpp"
#include "render/json.hpp"
#include "render/reshapeable.hpp"
#include "tools/releases.hpp"

namespace ovir::app::commands::check {
namespace {

struct Options : ModelOptions {
  std::string format = "human";
  std::vector<std::string> deny, allow;
  std::int64_t max_errors = 0;
  bool strict = false, ops = false, reshapeable = false;
};

std::vector<Code> codes(std::string_view flag, const std::vector<std::string>& texts) {
  std::vector<Code> list;
  for (const auto& text : texts) {
    for (const auto part : split(text, ',')) {
      const auto code = parse_code(trim(part));
      if (!code)
        throw UsageError(fmt::format("{}: there is no code '{}'; `ovir explain` lists them", flag, printable(part)));
      list.push_back(*code);
    }
  }
  return list;
}

bool holds(const std::vector<Code>& list, Code code) { return std::find(list.begin(), list.end(), code) != list.end(); }

/// The stages find faults in their own order.
Diagnostics in_file_order(const Diagnostics& found) {
  auto list = found.all();
  const auto place = [](const Diagnostic& d) {
    return std::pair(d.at ? std::string_view(d.at.file->path) : std::string_view(), d.at.offset);
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
    add_release(out, tools::least_release(model));
    print(json_text(out, 2));
  } else {
    std::string out;
    for (const auto& [key, entry] : map)
      out += fmt::format("{:>6}  {} ({}): {}\n", entry.layers.size(), printable(key.first), printable(key.second),
                         entry.reason);
    out += map.empty() ? fmt::format("all {} are supported\n", count(count_layers(model), "layer"))
                       : fmt::format("{} in {} unsupported\n", count(map.size(), "operation"), count(layers, "layer"));
    out += to_string(tools::least_release(model)) + "\n";
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

int check(const Options& options, const Common& common) {
  const auto denied = codes("--deny", options.deny), allowed = codes("--allow", options.allow);
  for (const auto code : allowed)
    if (severity(code) != Severity::warning)
      throw UsageError(fmt::format("--allow: {} is an error; only warnings can be allowed", to_string(code)));

  if (options.ops && options.reshapeable) throw UsageError("--ops and --reshapeable exclude each other");
  if (options.reshapeable && options.format != "human" && options.format != "json")
    throw UsageError("--reshapeable: the format is human or json");

  Diagnostics said;
  Stopwatch watch;
  const auto model = load(options.model, {options.weights, options.no_weights}, said);
  log_info("read {} in {}", options.model, watch.lap());
  if (options.ops && model) return list_operations(options, *model, said);
  if (model) ovir::infer(*model, infer_options(options, *model), said);
  log_info("inferred in {}", watch.lap());

  said = in_file_order(said);
  const bool with_help = options.format != "short" && model;
  auto fixes = with_help ? tools::find_fixes(*model, subject_of(options, *model), said) : tools::Fixes{};
  add_help(said, fixes, options);
  log_info("tried changes in {}", watch.lap());
  std::erase_if(fixes.list, [&](const tools::Fix& fix) { return holds(allowed, said.all()[fix.diagnostic].code); });
  auto shown = without_consequences(said, fixes);
  for (auto* list : {&said, &shown}) {
    list->drop_warnings([&](const Diagnostic& d) { return holds(allowed, d.code); });
    list->promote(
        [&](const Diagnostic& d) { return holds(denied, d.code) || (options.strict && d.code == Code::W0901); });
  }

  if (options.reshapeable && model && said.errors() == 0) return list_reshapeable(options, *model, common);
  const ReportOptions form{options.model, static_cast<std::size_t>(options.max_errors)};
  const auto layers = model ? count_layers(*model) : 0;
  if (options.format == "json") print(json(said, form));
  else if (options.format == "sarif") print(sarif(said, form));
  else if (options.format == "github") print(github(said, form));
  else {
    const auto text = options.format == "short" ? short_form(said, form, common.err)
                                                : human(shown, form, common.err) + fix_line(fixes, options, common.err);
    if (!common.quiet || said.errors() > 0) std::fwrite(text.data(), 1, text.size(), stderr);
    if (!common.quiet) print(closing_line(said, layers, common.out));
  }
  return exit_status(said);
}

Action declare(Flags& flags) {
  const auto options = std::make_shared<Options>();
  auto& o = *options;
  flags.model(o);
  flags.shapes(o);
  flags.format(o.format, "human short json sarif github");
  flags.toggle("--no-weights", o.no_weights, "do not read the .bin");
  flags.toggle("--strict", o.strict,
               "treat declared shapes and types that contradict the inferred ones (W0901) as errors");
  flags.list("-D,--deny", o.deny, "CODE", "treat this warning as an error");
  flags.list("-A,--allow", o.allow, "CODE", "do not report this warning");
  flags.number("--max-errors", o.max_errors, "N", "show at most N errors; 0, the default, shows all");
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
                                       "ovir check model.xml --reshapeable",
                                       {2, 3, 4, 7},
                                       declare};

}  // namespace ovir::app::commands::check
