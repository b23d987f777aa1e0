#include "bound.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "base/text.hpp"
#include "values.hpp"

namespace ovir::spec {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

std::size_t position(std::span<const PortDef> ports, std::string_view port_name) {
  const auto at = std::find_if(ports.begin(), ports.end(), [&](const PortDef& p) { return p.name == port_name; });
  return at == ports.end() ? kNone : static_cast<std::size_t>(at - ports.begin());
}

/// "out" and "out0" are the first output.
std::size_t output_position(std::span<const PortDef> outputs, std::string_view port_name) {
  if (port_name == "out") return 0;
  if (port_name.starts_with("out"))
    if (const auto k = parse_number<std::size_t>(port_name.substr(3))) return *k;
  return position(outputs, port_name);
}

BoundPort bound_port(const PortDef& def, const PortText& text) {
  return {&def, &text, def.type.name.empty() ? "port " + std::string(def.name) : std::string(def.type.name)};
}

bool holds_all(const PortText& text, ElementType type, bool exactly) {
  if (!text.has_values) return true;
  const auto values = expand(text, text.shape.to_shape());
  return std::all_of(values.begin(), values.end(), [&](const Word& w) { return holds(type, w, exactly); });
}

TypeSet parse_set(const TypesLine& line, TypeSet domain) {
  TypeSet set = 0;
  for (const auto& word : line.set) {
    if (word == "any") set |= domain;
    else if (word == "floats") set |= kFloat & domain;
    else if (word == "integers") set |= kInteger & domain;
    else if (word == "numbers") set |= kNumeric & domain;
    else if (const auto type = parse_element_type(word)) set |= set_of(*type);
    else throw std::runtime_error(fmt::format("types: \"{}\" is no element type", word));
  }
  return set & ~set_of(ElementType::dynamic);
}

}  // namespace

Bound bind(const Item& item, const Version& version) {
  Bound bound;
  std::map<std::size_t, std::vector<const PortText*>> inputs;
  std::map<std::size_t, const PortText*> outputs;
  for (const auto& port : item.ports) {
    if (const auto i = position(version.inputs, port.name); i != kNone) {
      if (!inputs[i].empty() && !is_endless(version.inputs[i]))
        throw std::runtime_error(fmt::format("input {} is given twice", port.name));
      inputs[i].push_back(&port);
    } else if (const auto o = output_position(version.outputs, port.name); o != kNone) {
      outputs[o] = &port;
    } else {
      std::string names;
      for (const auto& p : version.inputs) names += " " + std::string(p.name);
      throw std::runtime_error(fmt::format("{} is neither an input ({} ) nor an output", port.name, names));
    }
  }
  for (const auto& [i, texts] : inputs) {
    if (i > 0 && !inputs.contains(i - 1))
      throw std::runtime_error(fmt::format("{} is given without the input before it", version.inputs[i].name));
    for (const auto* text : texts) bound.inputs.push_back(bound_port(version.inputs[i], *text));
  }
  for (const auto& [o, text] : outputs) {
    if (o != bound.outputs.size()) throw std::runtime_error(fmt::format("output {} is left out", bound.outputs.size()));
    if (o >= version.outputs.size() && (version.outputs.empty() || !is_endless(version.outputs.back())))
      throw std::runtime_error(fmt::format("there is no output {}", o));
    bound.outputs.push_back(bound_port(version.outputs[std::min(o, version.outputs.size() - 1)], *text));
  }
  return bound;
}

ElementType type_of(const BoundPort& port, const Types& types) {
  const auto at = types.find(port.variable);
  return at == types.end() ? port.text->type : at->second;
}

std::vector<Types> type_variants(const Item& item, const Bound& bound) {
  std::vector<Types> variants{{}};
  for (const auto& line : item.types) {
    std::vector<const BoundPort*> ports;
    for (const auto& port_name : line.ports) {
      const auto named = [&](const BoundPort& p) { return p.text->name == port_name; };
      const auto in = std::find_if(bound.inputs.begin(), bound.inputs.end(), named);
      const auto out = std::find_if(bound.outputs.begin(), bound.outputs.end(), named);
      if (in != bound.inputs.end()) ports.push_back(&*in);
      else if (out != bound.outputs.end()) ports.push_back(&*out);
      else throw std::runtime_error(fmt::format("types: {} is not a port of this case", port_name));
    }
    const auto before = variants.size();
    const auto set = parse_set(line, ports[0]->def->type.domain);
    for (int t = 1; t < kElementTypeCount; ++t) {
      const auto type = static_cast<ElementType>(t);
      if (!contains(set, type)) continue;
      Types types;
      for (const auto* p : ports) types[p->variable] = type;
      const auto fits = [&](const std::vector<BoundPort>& list, bool exactly) {
        return std::all_of(list.begin(), list.end(), [&](const BoundPort& p) {
          return !types.contains(p.variable) || holds_all(*p.text, type, exactly);
        });
      };
      if (type != ports[0]->text->type && fits(bound.inputs, true) && fits(bound.outputs, false))
        variants.push_back(std::move(types));
    }
    if (variants.size() == before) throw std::runtime_error("types: no other type holds the values of this case");
  }
  return variants;
}

}  // namespace ovir::spec
