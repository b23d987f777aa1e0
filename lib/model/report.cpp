#include "model/report.hpp"

#include <fmt/core.h>

#include "base/text.hpp"

namespace ovir {

LayerRef layer_ref(const Model& model, const Layer& layer) {
  return {layer.id_text, layer.name, layer.type, layer.version, model.path};
}

std::string describe(const Layer& layer) { return fmt::format("layer {} \"{}\"", layer.id, printable(layer.name)); }

std::string describe(const Fact& fact) { return fmt::format("{}{}", name(fact.type), to_string(fact.shape)); }

std::string list_of(const PartialShape& shape) {
  std::string list;
  for (const auto& d : shape) list += (list.empty() ? "" : ",") + (d.is_static() ? to_string(d) : "-1");
  return list;
}

namespace {

/// Where entry `n` of a list stands in the file; the whole list where that cannot be told.
SourceLoc entry_of(const Attribute& list, std::size_t n) {
  const auto& at = list.at;
  const auto parts = split(list.value, ',');
  // A value with entities in it is longer in the file.
  if (n >= parts.size() || at.file->text.substr(at.offset, at.length) != list.value) return at;
  const auto entry = trim(parts[n]);
  if (entry.empty()) return at;
  return {at.file, at.offset + static_cast<std::size_t>(entry.data() - list.value.data()), entry.size()};
}

}  // namespace

void locate(Diagnostic& d, const Model& model, const Layer& layer) {
  if (!d.layer) d.layer = layer_ref(model, layer);
  if (!d.at) {
    const auto* attribute = d.attribute.empty() ? nullptr : layer.attribute(d.attribute);
    d.at = attribute ? d.entry ? entry_of(*attribute, *d.entry) : attribute->at : layer.at;
  }
  if (!d.port) return;
  const auto& ports = d.port->input ? layer.inputs : layer.outputs;
  if (d.port->index >= 0 && d.port->index < std::ssize(ports)) d.port->id = ports[d.port->index].id;
}

void report(Diagnostics& diagnostics, const Model& model, const Layer& layer, Diagnostic d) {
  locate(d, model, layer);
  diagnostics.add(std::move(d));
}

}  // namespace ovir
