#include "tools/rewrite.hpp"

#include <algorithm>
#include <optional>

#include <fmt/core.h>

#include "base/text.hpp"
#include "tools/layer_text.hpp"
#include "tools/select.hpp"
#include "xml/tags.hpp"

namespace ovir::tools {
namespace {

Replacement put(const Model& model, std::size_t begin, std::size_t end, std::string text) {
  return {{model.graph->source, begin, end - begin}, std::move(text)};
}

/// The attribute of the tag at `tag` becomes `value`; where there is none, it is added.
Replacement set_attribute(const Model& model, std::size_t tag, std::string_view name, std::string_view value) {
  const auto text = model.graph->source->text;
  if (const auto found = xml::find_attribute(text, tag, name))
    return put(model, found->value.begin, found->value.end, xml::escaped(value));
  auto end = xml::tag_range(text, tag).end - 1;
  if (text[end - 1] == '/') --end;
  while (text[end - 1] == ' ') --end;
  return put(model, end, end, fmt::format(" {}=\"{}\"", name, xml::escaped(value)));
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> renamed(std::vector<std::string> names, std::string_view from, std::string_view to) {
  std::replace(names.begin(), names.end(), std::string(from), std::string(to));
  return names;
}

/// A tensor name means one tensor, and a layer name one layer.
void require_unused(const Model& model, std::string_view name) {
  if (name.empty()) throw SelectorError("a name cannot be empty");
  // XML cannot hold them; what else printable() changes, such as marks of writing direction, it can.
  const auto in_no_xml = [](unsigned char c) { return c < ' ' && c != '\t' && c != '\n' && c != '\r'; };
  if (std::any_of(name.begin(), name.end(), in_no_xml))
    throw SelectorError(fmt::format("\"{}\" holds a control character, which XML cannot", printable(name)));
  for (const auto& layer : model.graph->layers) {
    const bool used =
        layer.name == name || contains(layer.output_names, name) ||
        std::any_of(layer.outputs.begin(), layer.outputs.end(), [&](const Port& p) { return contains(p.names, name); });
    if (used)
      throw SelectorError(
          fmt::format("\"{}\" is already a name in layer \"{}\"", printable(name), printable(layer.name)));
  }
}

const Port* port_of(const Model& model, const ValueRef& v) {
  if (v.node < 0) return nullptr;
  const auto& ports = model[v.node].layer->outputs;
  return v.port < std::ssize(ports) ? &ports[v.port] : nullptr;
}

}  // namespace

Edits add_outputs(const Model& model, const Facts& facts, const std::vector<ValueRef>& values) {
  Edits edits;
  const auto text = model.graph->source->text;
  const auto root = xml::root_tag(text);
  const auto layers = xml::children(text, root, "layers"), edges = xml::children(text, root, "edges");
  if (layers.empty() || edges.empty()) return edits;
  const auto layer_list = xml::children(text, layers[0].whole.begin, "layer"),
             edge_list = xml::children(text, edges[0].whole.begin, "edge");
  if (layer_list.empty()) return edits;

  std::vector<ValueRef> done;
  const auto same_as = [](const ValueRef& v) {
    return [&v](const ValueRef& other) { return other.node == v.node && other.port == v.port; };
  };
  for (const auto r : model.results)
    if (!model[r].inputs.empty()) done.push_back(model[r].inputs[0]);

  Unused unused(*model.graph);
  const auto layer_indent = indent_in(text, layers[0], layer_list[0].whole.begin);
  const auto edge_indent =
      indent_in(text, edges[0], edge_list.empty() ? edges[0].content.begin : edge_list[0].whole.begin);
  std::string new_layers, new_edges;
  for (const auto& v : values) {
    if (std::any_of(done.begin(), done.end(), same_as(v))) continue;
    done.push_back(v);
    const auto& layer = *model[v.node].layer;
    const auto id = unused.id();
    new_layers += result_text(layer_indent, id, unused.name(result_name(layer, v.port)), port_text(model, &facts, v));
    new_edges += edge_text(edge_indent, layer.id, layer.outputs[v.port].id, id, 0);
  }
  if (new_layers.empty()) return edits;
  edits.texts.push_back(put(model, layer_list.back().whole.end, layer_list.back().whole.end, std::move(new_layers)));
  edits.texts.push_back(added_to(model.graph->source, edges[0], edge_list, std::move(new_edges)));
  return edits;
}

Edits rename_input(const Model& model, int k, std::string_view from, std::string_view to) {
  require_unused(model, to);
  const auto& layer = *model[model.parameters[k]].layer;
  const bool has_tensor_name = !layer.outputs.empty() && contains(layer.outputs[0].names, from);
  if (!has_tensor_name && layer.name != from && from != model.parameter_name(k))
    return rename_input(model, k, model.parameter_name(k), to);
  Edits edits;
  if (has_tensor_name)
    edits.texts.push_back(set_attribute(model, layer.outputs[0].at.offset, "names",
                                        names_list(renamed(layer.outputs[0].names, from, to))));
  if (layer.name == from) edits.texts.push_back(set_attribute(model, layer.at.offset, "name", to));
  return edits;
}

Edits rename_output(const Model& model, int k, std::string_view from, std::string_view to) {
  require_unused(model, to);
  const auto& result = model[model.results[k]];
  const auto& layer = *result.layer;
  const auto value = result.inputs.empty() ? ValueRef{} : result.inputs[0];
  const auto* const port = port_of(model, value);
  const auto* const producer = value.node < 0 ? nullptr : model[value.node].layer;

  Edits edits;
  if (contains(layer.output_names, from))
    edits.texts.push_back(
        set_attribute(model, layer.at.offset, "output_names", names_list(renamed(layer.output_names, from, to))));
  if (layer.name == from) edits.texts.push_back(set_attribute(model, layer.at.offset, "name", to));
  if (port && contains(port->names, from))
    edits.texts.push_back(set_attribute(model, port->at.offset, "names", names_list(renamed(port->names, from, to))));
  else if (port && port->names.empty() && producer->name == from)
    edits.texts.push_back(set_attribute(model, port->at.offset, "names", names_list({std::string(to)})));
  const auto called = model.result_name(k);
  return edits.empty() && from != called ? rename_output(model, k, called, to) : edits;
}

}  // namespace ovir::tools
