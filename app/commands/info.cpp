// info: what a model is, without judging it. The .bin is not needed.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/quantity.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "op/known_types.hpp"
#include "op/shared_attrs.hpp"
#include "render/json.hpp"
#include "tools/releases.hpp"
#include "tools/statistics.hpp"

namespace ovir::app::commands::info {
namespace {

struct Options : ModelOptions {
  std::string format;
  bool rt_info = false, digest = false;
};

struct Summary {
  std::map<std::string, std::size_t> operations;               // "Reshape-1" -> layers
  std::map<std::string, std::size_t> sets;                     // "opset1" -> layers
  std::map<std::string, std::pair<std::size_t, i64>> weights;  // "f16" -> constants, bytes
  std::size_t layers = 0, bodies = 0;
  std::set<std::pair<i64, i64>> seen;  // begin and end: a range that is shared counts once
  struct State {
    std::string type = "dynamic", shape = "[...]";
  };
  std::map<std::string, State> states;  // by variable
};

/// What a ReadValue says of its variable, by its attributes or, in old versions, by its output port.
void add_state(const Node& node, Summary& summary) {
  const auto& layer = *node.layer;
  const auto* const id = layer.attribute("variable_id");
  if (!id || !node.op || (node.op->kind != Kind::read_value && node.op->kind != Kind::assign)) return;
  auto& state = summary.states[id->value];
  if (const auto* type = layer.attribute("variable_type")) state.type = type->value;
  if (const auto* shape = layer.attribute("variable_shape"))
    if (const auto parsed = parse_shape(shape->value)) state.shape = to_string(*parsed);
  if (layer.outputs.empty()) return;
  const auto& port = layer.outputs[0];
  if (state.type == "dynamic" && port.declared_type) state.type = name(*port.declared_type);
  if (state.shape == "[...]" && port.declared_shape) state.shape = to_string(*port.declared_shape);
}

void collect(const Model& model, Summary& summary) {
  for (const auto& node : model.nodes) {
    const auto& layer = *node.layer;
    ++summary.layers;
    ++summary.sets[layer.version.empty() ? "(none)" : layer.version];
    const auto since = node.version ? node.version->since : 0;
    add_state(node, summary);
    ++summary.operations[since > 0 ? fmt::format("{}-{}", node.op->type, since)
                                   : fmt::format("{} ({})", layer.type, layer.version)];
    if (const auto range = stored_bytes(node); range && summary.seen.emplace(range->begin, range->end).second) {
      auto& [n, bytes] = summary.weights[std::string(name(node.as<ConstantAttrs>().element_type))];
      ++n;
      bytes += range->end - range->begin;
    }
    for (const auto& body : node.bodies) {
      ++summary.bodies;
      collect(*body, summary);
    }
  }
}

/// The model's files and their CRC-32, by which copies are told apart.
std::vector<std::pair<std::string, std::string>> digests(const Model& model) {
  const auto& graph = *model.graph;
  std::vector<std::pair<std::string, std::string>> list;
  const auto add = [&](const std::string& path, std::string_view bytes) {
    list.emplace_back(path, fmt::format("{:08x}", tools::digest_of(bytes)));
  };
  add(graph.source->path, graph.source->text);
  if (graph.weights) add(graph.weights_path, graph.weights->text());
  return list;
}

struct End {
  std::string name, layer;
  std::string id, type, shape;
  std::vector<std::string> names;
};

std::vector<End> ends(const Model& model, bool input) {
  std::vector<End> list;
  const auto& nodes = input ? model.parameters : model.results;
  for (int k = 0; k < std::ssize(nodes); ++k) {
    const auto& node = model[nodes[k]];
    End end{input ? model.parameter_name(k) : model.result_name(k),
            node.layer->name,
            node.layer->id_text,
            "dynamic",
            "[...]",
            node.layer->output_names};
    const Port* port = input && !node.layer->outputs.empty() ? &node.layer->outputs[0] : nullptr;
    if (!input && !node.inputs.empty() && node.inputs[0].node >= 0) {
      const auto& ports = model[node.inputs[0].node].layer->outputs;
      if (node.inputs[0].port < std::ssize(ports)) port = &ports[node.inputs[0].port];
    }
    if (port) {
      if (port->declared_type) end.type = name(*port->declared_type);
      if (port->declared_shape) end.shape = to_string(*port->declared_shape);
      if (end.names.empty()) end.names = port->names;
    }
    if (input && node.attrs) {
      const auto& a = node.as<ParameterAttrs>();
      end.type = name(a.element_type);
      end.shape = to_string(a.shape);
    }
    // The type that `run` takes and gives, which in IR 10 is not always the declared one.
    if (const auto declared = parse_element_type(end.type)) end.type = name(exchanged_type(model, *declared, input));
    list.push_back(std::move(end));
  }
  return list;
}

Json as_json(const Options& options, const Model& model, const Summary& summary, const Diagnostics& diagnostics) {
  const auto list = [&](bool input) {
    Json entries = Json::array();
    for (const auto& e : ends(model, input))
      entries.push_back({{"index", entries.size()},
                         {"name", e.name},
                         {"layer_id", id_json(e.id)},
                         {"layer", e.layer},
                         {"tensor_names", e.names},
                         {"element_type", e.type},
                         {"shape", e.shape}});
    return entries;
  };
  Json weights = Json::object(), rt_info = Json::object(), states = Json::array();
  for (const auto& [variable, state] : summary.states)
    states.push_back({{"variable", variable}, {"element_type", state.type}, {"shape", state.shape}});
  for (const auto& [type, sum] : summary.weights) weights[type] = {{"constants", sum.first}, {"bytes", sum.second}};
  for (const auto& entry : model.graph->rt_info) rt_info[entry.path] = entry.value;
  Json out{
      {"schema", 1}, {"model", options.model}, {"name", model.graph->name}, {"ir_version", model.graph->ir_version}};
  add_release(out, tools::minimum_release(model));
  out.update(Json{{"layers", summary.layers},
                  {"bodies", summary.bodies},
                  {"inputs", list(true)},
                  {"outputs", list(false)},
                  {"states", std::move(states)},
                  {"opsets", summary.sets},
                  {"operations", summary.operations},
                  {"weights", std::move(weights)},
                  {"rt_info", std::move(rt_info)},
                  {"errors", diagnostics.errors()}});
  if (options.digest) {
    out["crc32"] = Json::object();
    for (const auto& [path, digest] : digests(model)) out["crc32"][path] = digest;
  }
  return out;
}

/// The model's own notes; what the converter was called with only where it is asked for.
std::string rt_info_text(const Model& model, bool all, const Style& style) {
  std::string out;
  std::size_t hidden = 0;
  for (const auto& entry : model.graph->rt_info) {
    if (all || !entry.path.starts_with("conversion_parameters"))
      out += fmt::format("  {} = {}\n", printable(entry.path), printable(entry.value));
    else ++hidden;
  }
  if (hidden > 0) out += fmt::format("  {}: see --rt-info\n", counted(hidden, "conversion parameter"));
  return out.empty() ? out : style(Paint::bold, "rt_info") + "\n" + out;
}

std::string as_text(const Options& options, const Model& model, const Summary& summary, const Style& style) {
  std::string out;
  const auto heading = [&](std::string_view text) { out += style(Paint::bold, text) + "\n"; };
  out += fmt::format("{}  IR {}, {}{}, {}\n",
                     style(Paint::bold, model.graph->name.empty() ? "(no name)" : printable(model.graph->name)),
                     model.graph->ir_version, counted(summary.layers, "layer"),
                     summary.bodies > 0 ? fmt::format(" with {}", counted(summary.bodies, "body", "bodies")) : "",
                     to_string(tools::minimum_release(model)));
  for (const bool input : {true, false}) {
    heading(input ? "inputs" : "outputs");
    std::size_t k = 0;
    for (const auto& e : ends(model, input)) {
      std::string also;
      for (const auto& n : e.names)
        if (n != e.name) also += (also.empty() ? "" : ", ") + printable(n);
      out += fmt::format("  {}  {}  {}{}  (layer {} \"{}\"{})\n", k++, printable(e.name), printable(e.type), e.shape,
                         printable(e.id), printable(e.layer), also.empty() ? "" : "; also " + also);
    }
    if (k == 0) out += "  none\n";
  }
  if (!summary.states.empty()) heading("states");
  for (const auto& [variable, state] : summary.states)
    out += fmt::format("  {}  {}{}\n", printable(variable), printable(state.type), state.shape);
  heading("operations");
  std::vector<std::pair<std::string, std::size_t>> sorted(summary.operations.begin(), summary.operations.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const auto& [type, n] : sorted) out += fmt::format("  {:>6}  {}\n", n, printable(type));
  heading("operation sets");
  for (const auto& [set, n] : summary.sets) out += fmt::format("  {:>6}  {}\n", n, printable(set));
  if (!summary.weights.empty()) heading("weights");
  for (const auto& [type, sum] : summary.weights)
    out += fmt::format("  {:>6}  {} in {}\n", printable(type), size_text(sum.second), counted(sum.first, "constant"));
  if (options.digest) heading("crc32");
  if (options.digest)
    for (const auto& [path, digest] : digests(model)) out += fmt::format("  {}  {}\n", digest, printable(path));
  return out + rt_info_text(model, options.rt_info, style);
}

int info(const Options& options, const Common& common) {
  Diagnostics diagnostics;
  const bool weights = options.digest || !options.weights.empty();
  const auto model = load(options.model, {options.weights, !weights}, diagnostics);
  // Without its .bin a model can be looked at, but not with one that is not there.
  const bool no_weights = model && !model->graph->weights && !options.weights.empty() && diagnostics.errors() > 0;
  if (!model || no_weights) throw Refused(std::move(diagnostics), options.model);
  Summary summary;
  collect(*model, summary);
  if (options.format == "json") print(json_text(as_json(options, *model, summary, diagnostics), 2));
  else print(as_text(options, *model, summary, common.out));
  if (diagnostics.errors() > 0) note_details(common, counted(diagnostics.errors(), "error"), options.model);
  return kOk;
}

Action declare(Flags& flags) {
  const auto options = std::make_shared<Options>();
  flags.model(*options);
  flags.toggle("--rt-info", options->rt_info, "also list the parameters that the model was converted with");
  flags.toggle("--digest", options->digest, "also show the CRC-32 of the .xml and the .bin");
  flags.format(options->format, "human json");
  return [options](const Common& common) { return info(*options, common); };
}

}  // namespace

extern constinit const Command command{"info",
                                       CommandGroup::inspect,
                                       "show inputs, outputs, operations, weights and origin of a model",
                                       "ovir info model.xml\n"
                                       "ovir info model.xml --format json",
                                       {2, 3, 4, 7},
                                       declare};

}  // namespace ovir::app::commands::info
