// resolve: binds layers to operation versions, parses attributes, connects edges, orders topologically.
#include <algorithm>
#include <set>

#include "op/lookup.hpp"
#include "passes/detail.hpp"

namespace ovir {

LayerRef layer_ref(const Model& model, const Layer& layer) { return {layer.id_text, layer.name, layer.type, layer.version, model.path}; }

std::string Model::parameter_name(int k) const {
  const auto& layer = *nodes[static_cast<std::size_t>(parameters[static_cast<std::size_t>(k)])].layer;
  return !layer.outputs.empty() && !layer.outputs[0].names.empty() ? layer.outputs[0].names[0] : layer.name;
}

std::string Model::result_name(int k) const {
  const auto& result = nodes[static_cast<std::size_t>(results[static_cast<std::size_t>(k)])];
  if (!result.layer->output_names.empty()) return result.layer->output_names[0];
  if (result.inputs.empty() || result.inputs[0].node < 0) return result.layer->name;
  const auto& producer = *nodes[static_cast<std::size_t>(result.inputs[0].node)].layer;
  const auto& port = producer.outputs[static_cast<std::size_t>(result.inputs[0].port)];
  return port.names.empty() ? producer.name : port.names[0];
}

namespace passes {

void fail_attribute(std::string_view attribute, Code code, std::string message, std::string meant) {
  Diagnostic d;
  d.code = code;
  d.message = std::move(message);
  d.attribute = attribute;
  if (!meant.empty()) d.remedies.push_back({{Change::What::attribute, std::string(attribute), std::move(meant), 0}});
  fail(std::move(d));
}

void report(Diagnostics& diagnostics, const Model& model, const Layer& layer, Diagnostic d) {
  if (!d.layer) d.layer = layer_ref(model, layer);
  if (!d.at) {
    d.at = layer.at;
    if (const auto* attribute = d.attribute.empty() ? nullptr : layer.attribute(d.attribute)) d.at = attribute->at;
  }
  if (d.port) {
    const auto& ports = d.port->input ? layer.inputs : layer.outputs;
    if (d.port->index >= 0 && d.port->index < static_cast<std::int64_t>(ports.size())) d.port->id = ports[static_cast<std::size_t>(d.port->index)].id;
  }
  diagnostics.add(std::move(d));
}

namespace {

/// Attributes spell element types in lower case; "FP32" is how a port's precision is spelled.
void require_type_word(const OpDef& op, const AttributeDef& def, const Attribute& given) {
  if (def.type != "element type") return;
  const auto type = parse_element_type(given.value);
  if (!type || *type == ElementType::dynamic || given.value == name(*type)) return;
  fail_attribute(def.name, Code::E0403, fmt::format("attribute \"{}\" of {}: \"{}\" is not an element type; did you mean \"{}\"?", def.name, op.type, printable(given.value), name(*type)),
                 std::string(name(*type)));
}

/// A list that is separated by something else than commas, or stands in brackets, as the format has it.
std::string as_list(std::string_view text) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string list;
  bool gap = false;
  text = trim(text);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '[' || c == ']' || c == '(' || c == ')' || c == '{' || c == '}') continue;
    const bool times = c == 'x' && i > 0 && i + 1 < text.size() && text[i - 1] != '0' && digit(text[i - 1]) && digit(text[i + 1]);  // 2x3, but not 0x3
    if (c == ' ' || c == ';' || c == ',' || times) {
      gap = true;
      continue;
    }
    if (gap && !list.empty()) list += ',';
    list += c;
    gap = false;
  }
  return list;
}

/// What `text`, which the attribute does not take, was meant to be; empty where nobody can tell.
std::string meant(const AttributeDef& def, void* attrs, const AttributeError& error, std::string_view text) {
  if (!error.meant.empty()) return error.meant;
  auto list = as_list(text);
  try {
    def.set(attrs, list);
    return list;
  } catch (const AttributeError&) {
    return {};
  }
}

/// An element type or a shape that the layer's output port repeats.
std::optional<std::string> as_declared(const AttributeDef& def, const Layer& layer) {
  if (layer.outputs.size() != 1) return std::nullopt;
  const auto& port = layer.outputs.front();
  if (def.type == "element type" && port.declared_type && *port.declared_type != ElementType::dynamic) return std::string(name(*port.declared_type));
  if (def.type != "shape" || !port.declared_shape || !port.declared_shape->has_rank()) return std::nullopt;
  std::string list;
  for (const auto& d : *port.declared_shape) list += fmt::format("{}{}", list.empty() ? "" : ",", d.is_static() ? d.length() : -1);
  return list;
}

[[noreturn]] void fail_missing(const OpDef& op, const AttributeTable& table, const AttributeDef& def, const Layer& layer) {
  Diagnostic d;
  d.code = Code::E0401;
  d.message = fmt::format("{} needs the attribute \"{}\"", op.type, def.name);
  // A slip in the name is likelier than an omission.
  for (const auto& given : layer.attributes) {
    const auto known = [&](const AttributeDef& other) { return other.name == given.name; };
    if (std::none_of(table.defs.begin(), table.defs.end(), known) && nearest(given.name, {def.name})) d.remedies.push_back({{Change::What::attribute_name, given.name, std::string(def.name)}});
  }
  if (const auto value = as_declared(def, layer)) d.remedies.push_back({{Change::What::attribute, std::string(def.name), *value}});
  fail(std::move(d));
}

/// Attributes from text to the version's struct; every fault of the layer is reported. Null where there is one.
std::shared_ptr<const void> parse_attributes(const Model& model, const Layer& layer, const OpDef& op, const Version& version, Diagnostics& diagnostics) {
  const auto& table = version.attrs;
  auto attrs = table.make ? table.make() : std::make_shared<char>();
  bool good = true;
  for (const auto& def : table.defs) {
    const auto* given = layer.attribute(def.name);
    good &= attempt(diagnostics, model, layer, [&] {
      if (!given) {
        if (def.presence == kRequired) fail_missing(op, table, def, layer);
        return;
      }
      require_type_word(op, def, *given);
      try {
        def.set(attrs.get(), given->value);
      } catch (const AttributeError& e) {
        auto word = meant(def, attrs.get(), e, given->value);
        if (word.empty()) word = as_declared(def, layer).value_or("");
        const auto hint = word.empty() ? "" : fmt::format("; did you mean \"{}\"?", printable(word));
        fail_attribute(def.name, e.domain ? Code::E0403 : Code::E0402, fmt::format("attribute \"{}\" of {}: {}{}", def.name, op.type, e.what(), hint), std::move(word));
      }
    });
  }
  for (const auto& given : layer.attributes) {
    const auto same_name = [&](const AttributeDef& def) { return def.name == given.name; };
    if (std::any_of(table.defs.begin(), table.defs.end(), same_name)) continue;
    std::vector<std::string_view> names;
    for (const auto& def : table.defs) names.push_back(def.name);
    const auto near = nearest(given.name, names);
    Diagnostic d;
    d.severity = Severity::warning;
    d.code = Code::W0902;
    d.message = fmt::format("{} has no attribute \"{}\"{}", op.type, printable(given.name), near ? fmt::format("; did you mean \"{}\"?", *near) : "");
    d.attribute = given.name;
    if (near && !layer.attribute(*near)) d.remedies.push_back({{Change::What::attribute_name, given.name, std::string(*near), 0}});
    report(diagnostics, model, layer, std::move(d));
  }
  return good ? attrs : nullptr;
}

struct Resolver {
  const Registry& registry;
  Diagnostics& diagnostics;

  std::shared_ptr<const Model> resolve(std::shared_ptr<const Graph> graph, std::string path) {
    auto model = std::make_shared<Model>();
    model->graph = std::move(graph);
    model->path = std::move(path);
    const auto errors_before = diagnostics.errors();
    const auto& layers = model->graph->layers;

    std::vector<bool> faulty(layers.size(), false);
    const auto inputs = connect(*model, faulty, diagnostics);
    const auto order = topological_order(*model, inputs, reads_before_writes(*model->graph, registry), faulty, diagnostics);
    std::vector<int> position(layers.size());
    for (std::size_t i = 0; i < order.size(); ++i) position[static_cast<std::size_t>(order[i])] = static_cast<int>(i);

    Diagnostic cut;
    const auto cut_off = cut_off_constants(*model->graph, cut);
    if (!cut_off.empty()) report(diagnostics, *model, *cut_off.front(), std::move(cut));
    for (const auto* layer : cut_off) faulty[static_cast<std::size_t>(layer - layers.data())] = true;

    model->nodes.resize(layers.size());
    for (std::size_t at = 0; at < layers.size(); ++at) {  // in file order, so that diagnostics come in file order
      auto& node = model->nodes[static_cast<std::size_t>(position[at])];
      node.layer = &layers[at];
      node.output_count = static_cast<int>(layers[at].outputs.size());
      node.inputs = inputs[at];
      for (auto& v : node.inputs)
        if (v.node >= 0) v.node = position[static_cast<std::size_t>(v.node)];
      bind(*model, node, faulty[at]);
    }
    for (std::size_t at = 0; at < layers.size(); ++at) {
      const auto& node = model->nodes[static_cast<std::size_t>(position[at])];
      if (!node.op) continue;
      if (node.op->kind == Kind::parameter) model->parameters.push_back(position[at]);
      if (node.op->kind == Kind::result) model->results.push_back(position[at]);
    }
    for (auto& node : model->nodes) bind_bodies(*model, node);
    if (model->path.empty()) check_states(*model, diagnostics);
    const bool damaged = model->graph->damaged || std::any_of(layers.begin(), layers.end(), [](const Layer& l) { return l.damaged; });
    model->complete = diagnostics.errors() == errors_before && !damaged;
    if (model->complete) {
      warn_unreachable(*model, diagnostics);
      warn_overlapping_constants(*model, diagnostics);
    }
    return model;
  }

 private:
  void bind(const Model& model, Node& node, bool faulty) {
    const auto& layer = *node.layer;
    node.faulty = layer.damaged || faulty;
    if (layer.damaged && (layer.type.empty() || layer.version.empty())) return;
    node.faulty |= !attempt(diagnostics, model, layer, [&] {
      const auto found = find_operation(registry, layer.type, layer.version);
      node.op = found.op;
      node.version = found.version;
    });
    if (!node.op) return;
    node.attrs = parse_attributes(model, layer, *node.op, *node.version, diagnostics);
    node.faulty |= !node.attrs;
    if (node.op->kind == Kind::constant && node.attrs && !faulty)
      node.faulty |= !attempt(diagnostics, model, layer, [&] { node.constant = constant_value(*model.graph, layer); });
  }

  void bind_bodies(const Model& model, Node& node) {
    if (node.layer->bodies.empty() || !node.op) return;
    const auto& outer = *node.layer;
    for (const auto& body : outer.bodies) {
      auto inner = resolve(body.graph, fmt::format("{}{}/{}/", model.path, outer.name, body.role));
      node.faulty |= !inner->complete;
      node.faulty |= !attempt(diagnostics, model, outer, [&] { node.maps.push_back(map_body(outer, body, *inner)); });
      node.bodies.push_back(std::move(inner));
    }
  }
};

}  // namespace

std::shared_ptr<const Model> resolve(std::shared_ptr<const Graph> graph, const Registry& registry, Diagnostics& diagnostics) {
  return Resolver{registry, diagnostics}.resolve(std::move(graph), "");
}

}  // namespace passes
}  // namespace ovir
