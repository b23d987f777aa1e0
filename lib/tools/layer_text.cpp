#include "tools/layer_text.hpp"

#include <algorithm>
#include <limits>

#include <fmt/core.h>

#include "base/text.hpp"

namespace ovir::tools {
namespace {

std::string port_list(const Indent& indent, const PortText& port, std::string_view list, i64 id = 0) {
  const auto in = [&](int steps) {
    auto text = indent.before;
    for (int i = 0; i < steps; ++i) text += indent.step;
    return text;
  };
  auto text =
      fmt::format("{}<{}>{}<port id=\"{}\" precision=\"{}\"", in(1), list, in(2), id, precision_name(port.type));
  if (!port.names.empty()) text += fmt::format(" names=\"{}\"", xml::escaped(names_list(port.names)));
  if (port.shape.rank() == 0) return text + fmt::format(" />{}</{}>", in(1), list);
  text += '>';
  for (const auto& d : port.shape) text += fmt::format("{}<dim>{}</dim>", in(3), d.is_static() ? d.length() : -1);
  return text + fmt::format("{}</port>{}</{}>", in(2), in(1), list);
}

std::string layer_text(const Indent& indent, i64 id, std::string_view name, std::string_view type,
                       const std::string& inside) {
  return fmt::format("{0}<layer id=\"{1}\" name=\"{2}\" type=\"{3}\" version=\"opset1\">{4}{0}</layer>", indent.before,
                     id, xml::escaped(name), type, inside);
}

}  // namespace

Indent indent_in(std::string_view text, const xml::ElementText& list, std::size_t first) {
  const auto before = text.substr(list.content.begin, first - list.content.begin);
  if (!trim(before).empty() || before.find('\n') == before.npos) return {"\n", ""};
  return {std::string(before.substr(before.rfind('\n'))), before.find('\t') == before.npos ? "  " : "\t"};
}

PortText port_text(const Model& model, const Facts* facts, const ValueRef& v) {
  PortText text;
  const auto& ports = model[v.node].layer->outputs;
  if (v.port < std::ssize(ports)) {
    text.names = ports[v.port].names;
    text.type = ports[v.port].declared_type.value_or(text.type);
    text.shape = ports[v.port].declared_shape.value_or(PartialShape::unknown_rank());
  }
  if (!facts || v.node >= std::ssize(facts->outputs) || v.port >= std::ssize(facts->outputs[v.node])) return text;
  const auto& fact = facts->of(v);
  if (fact.type == ElementType::dynamic) return text;  // not inferred
  text.type = fact.type;
  text.shape = fact.shape;  // not the declared one, which need not be what comes
  return text;
}

std::string names_list(const std::vector<std::string>& names) {
  std::string list;
  for (const auto& name : names) {
    if (!list.empty()) list += ',';
    for (const char c : name) list += c == ',' ? std::string("\\,") : std::string(1, c);
  }
  return list;
}

std::string result_name(const Layer& layer, int port) { return fmt::format("{}/sink_port_{}", layer.name, port); }

Replacement added_to(const std::shared_ptr<const SourceFile>& source, const xml::ElementText& list,
                     const std::vector<xml::ElementText>& elements, std::string text) {
  if (list.content.begin < list.whole.end)
    return {{source, elements.empty() ? list.content.begin : elements.back().whole.end, 0}, std::move(text)};
  return {{source, list.whole.begin, list.whole.end - list.whole.begin}, fmt::format("<edges>{}\n</edges>", text)};
}

std::string parameter_text(const Indent& indent, i64 id, std::string_view name, const PortText& port) {
  return layer_text(indent, id, name, "Parameter",
                    fmt::format("{}{}<data shape=\"{}\" element_type=\"{}\" />{}", indent.before, indent.step,
                                attribute_text(port.shape), ovir::name(port.type), port_list(indent, port, "output")));
}

std::string constant_text(const Indent& indent, i64 id, std::string_view name, const PortText& port, i64 offset,
                          i64 size) {
  return layer_text(indent, id, name, "Const",
                    fmt::format("{}{}<data element_type=\"{}\" shape=\"{}\" offset=\"{}\" size=\"{}\" />{}",
                                indent.before, indent.step, ovir::name(port.type), attribute_text(port.shape), offset,
                                size, port_list(indent, port, "output")));
}

std::string compute_text(const Indent& indent, const Layer& layer, const PortText& output) {
  std::string inside = fmt::format("{}{}<data", indent.before, indent.step);
  for (const auto& a : layer.attributes) inside += fmt::format(" {}=\"{}\"", a.name, xml::escaped(a.value));
  inside += fmt::format(" />{0}{1}<input>", indent.before, indent.step);
  for (const auto& port : layer.inputs)
    inside += fmt::format("{0}{1}{1}<port id=\"{2}\" />", indent.before, indent.step, port.id);
  inside += fmt::format("{0}{1}</input>", indent.before, indent.step);
  return layer_text(indent, layer.id, layer.name, layer.type,
                    inside + port_list(indent, output, "output", layer.outputs[0].id));
}

std::string result_text(const Indent& indent, i64 id, std::string_view name, const PortText& port) {
  return layer_text(indent, id, name, "Result", port_list(indent, {port.type, port.shape}, "input"));
}

std::string edge_text(const Indent& indent, i64 from_layer, i64 from_port, i64 to_layer, i64 to_port) {
  return fmt::format("{}<edge from-layer=\"{}\" from-port=\"{}\" to-layer=\"{}\" to-port=\"{}\" />", indent.before,
                     from_layer, from_port, to_layer, to_port);
}

Unused::Unused(const Graph& graph) {
  for (const auto* layers : {&graph.layers, &graph.left_out}) {
    for (const auto& layer : *layers) {
      ids_.push_back(layer.id);
      names_.push_back(layer.name);
    }
  }
  std::sort(ids_.begin(), ids_.end());
  std::sort(names_.begin(), names_.end());
  if (!ids_.empty() && ids_.back() < std::numeric_limits<i64>::max()) next_ = std::max<i64>(0, ids_.back() + 1);
}

i64 Unused::id() {
  while (std::binary_search(ids_.begin(), ids_.end(), next_)) ++next_;
  return next_++;
}

std::string Unused::name(std::string wanted) {
  auto at = std::lower_bound(names_.begin(), names_.end(), wanted);
  while (at != names_.end() && *at == wanted) {
    wanted += '_';
    at = std::lower_bound(names_.begin(), names_.end(), wanted);
  }
  names_.insert(at, wanted);
  return wanted;
}

void Unused::free(const std::string& layer_name) {
  const auto at = std::lower_bound(names_.begin(), names_.end(), layer_name);
  if (at != names_.end() && *at == layer_name) names_.erase(at);
}

}  // namespace ovir::tools
