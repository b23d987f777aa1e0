// cost: what a run will take, before it.
#include <algorithm>
#include <cstdio>

#include "base/quantity.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "render/columns.hpp"
#include "render/json.hpp"
#include "render/layer.hpp"
#include "tools/cost.hpp"
#include "tools/sample_shapes.hpp"

namespace ovir::app::commands::cost {
namespace {

struct Options : ModelOptions {
  std::string format, demands;
  i64 top = 10;
  bool memory = false;
};

/// "12.3 M", "980": three digits that count, in steps of 1000.
std::string short_number(i64 n) {
  constexpr std::string_view units[] = {"", " k", " M", " G", " T", " P"};
  auto value = static_cast<double>(n);
  std::size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < std::size(units); ++unit) value /= 1000;
  return unit == 0 ? std::to_string(n) : fmt::format("{:.3g}{}", value, units[unit]);
}

bool is_size(std::string_view total) { return total != "parameters" && total != "macs"; }

std::string layer_name(const Model& model, int node) { return printable(model.path + model[node].layer->name); }

std::string totals_text(const tools::Cost& cost) {
  std::vector<std::vector<std::string>> rows{{"parameters", short_number(cost.parameters)},
                                             {"MACs", short_number(cost.macs)},
                                             {"weights", size_text(cost.weights)},
                                             {"moved", size_text(cost.moved)},
                                             {"peak", size_text(cost.peak)}};
  if (cost.peak_model)
    rows.back().push_back(fmt::format("of tensors while \"{}\" runs", layer_name(*cost.peak_model, cost.peak_node)));
  return columns_text(rows, "lrl");
}

/// The layers with the most multiply-accumulates, or where there are none the most bytes.
std::string layers_text(const tools::Cost& cost, i64 top) {
  auto layers = cost.layers;
  std::stable_sort(layers.begin(), layers.end(),
                   [](const auto& a, const auto& b) { return a.macs != b.macs ? a.macs > b.macs : a.moved > b.moved; });
  if (std::ssize(layers) > top) layers.resize(top);
  std::vector<std::vector<std::string>> rows{{"layer", "type", "times", "parameters", "MACs", "moved"}};
  for (const auto& l : layers)
    rows.push_back({layer_name(*l.model, l.node), (*l.model)[l.node].layer->type, std::to_string(l.times),
                    short_number(l.parameters), short_number(l.macs), size_text(l.moved)});
  return columns_text(rows, "llrrrr");
}

std::string memory_text(const tools::Cost& cost) {
  std::vector<std::vector<std::string>> rows{{"alive at the peak", "type", "bytes"}};
  for (const auto& t : cost.alive)
    rows.push_back({fmt::format("{}{}", layer_name(*t.model, t.node), t.port > 0 ? fmt::format(".{}", t.port) : ""),
                    fmt::format("{}{}", name(t.type), to_string(t.shape)), size_text(t.bytes)});
  return columns_text(rows, "llr");
}

Json cost_json(const tools::Cost& cost) {
  Json json{{"schema", 1},
            {"parameters", cost.parameters},
            {"macs", cost.macs},
            {"bytes", {{"weights", cost.weights}, {"moved", cost.moved}, {"peak", cost.peak}}}};
  json["peak_layer"] = cost.peak_model ? layer_json(*cost.peak_model, (*cost.peak_model)[cost.peak_node]) : Json();
  json["alive"] = Json::array();
  for (const auto& t : cost.alive)
    json["alive"].push_back({{"layer", layer_json(*t.model, (*t.model)[t.node])},
                             {"port", t.port},
                             {"element_type", name(t.type)},
                             {"shape", t.shape},
                             {"bytes", t.bytes}});
  json["layers"] = Json::array();
  for (const auto& l : cost.layers)
    json["layers"].push_back({{"layer", layer_json(*l.model, (*l.model)[l.node])},
                              {"times", l.times},
                              {"parameters", l.parameters},
                              {"macs", l.macs},
                              {"moved", l.moved}});
  json["open"] = Json::array();
  for (const auto& l : cost.open) json["open"].push_back(layer_json(*l.model, (*l.model)[l.node]));
  return json;
}

/// Lengths that the file leaves open make every number a guess.
void require_lengths(const Model& model, const Facts& facts, const passes::InferOptions& infer) {
  for (int k = 0; k < std::ssize(model.parameters); ++k) {
    const auto& shape = facts.outputs[model.parameters[k]][0].shape;
    if (shape.is_static()) continue;
    std::string example;
    if (const auto shapes = tools::sample_shapes(model, infer))
      for (int i = 0; i < std::ssize(*shapes); ++i)
        example += (i == 0 ? "" : ",") + model.parameter_name(i) + to_string((*shapes)[i]);
    throw UsageError(fmt::format("input \"{}\" has shape {}; give its lengths with --shape{}",
                                 printable(model.parameter_name(k)), to_string(shape),
                                 example.empty() ? "" : ", such as --shape " + shell_word(example)));
  }
}

int run(const Options& options, const Common& common) {
  std::vector<tools::CostDemand> demands;
  try {
    demands = tools::parse_demands(options.demands);
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("--assert: {}", error.what()));
  }
  const auto loaded = load_model(options, common);
  require_lengths(*loaded.model, loaded.facts, infer_options(options, *loaded.model));
  const auto cost = tools::cost_of(*loaded.model, loaded.facts);
  if (options.format == "json") {
    print(json_text(cost_json(cost), 2));
  } else {
    auto text = totals_text(cost);
    if (options.memory) text += "\n" + memory_text(cost);
    else if (options.top > 0 && !cost.layers.empty()) text += "\n" + layers_text(cost, options.top);
    print(text);
  }
  if (!cost.open.empty())
    note(common, fmt::format("{}: a length, or how often a loop runs, is known only {}; the first is \"{}\"",
                             counted(cost.open.size(), "layer counts in part", "layers count in part"),
                             options.no_weights ? "with the .bin or when it runs" : "when it runs",
                             layer_name(*cost.open[0].model, cost.open[0].node)));
  int status = kOk;
  for (const auto& d : demands) {
    if (d.holds(cost)) continue;
    status = kDiffers;
    to_stderr(fmt::format("{} {} does not hold: {} is {:.0f}{}\n", common.err(Paint::error, "error:"),
                          printable(d.text), d.name, d.value(cost), is_size(d.name) ? " bytes" : ""));
  }
  return status;
}

Action declare(Flags& flags) {
  const auto options = std::make_shared<Options>();
  auto& o = *options;
  flags.model(o);
  flags.shapes(o);
  flags.toggle("--no-weights", o.no_weights, "do not read the .bin");
  flags.toggle("--memory", o.memory, "list the tensors that are alive at the peak");
  flags.number("--top", o.top, "K", "list the K layers with the most MACs; default: 10", 0);
  flags.text("--assert", o.demands, "EXPR",
             "exit with code 1 unless this holds: 'macs<300M,peak<=64MB'; also parameters, weights, moved");
  flags.format(o.format, "human json");
  return [options](const Common& common) { return run(*options, common); };
}

}  // namespace

extern constinit const Command command{"cost",
                                       CommandGroup::inspect,
                                       "count parameters, MACs, bytes and peak memory without running",
                                       "ovir cost model.xml\n"
                                       "ovir cost model.xml --shape '[8,3,224,224]' --memory\n"
                                       "ovir cost model.xml --assert 'macs<300M,peak<=64MB'",
                                       {1, 2, 3, 4, 7},
                                       declare};

}  // namespace ovir::app::commands::cost
