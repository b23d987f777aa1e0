#include "model/model.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "op/shared_attrs.hpp"

namespace ovir {

std::string Model::parameter_name(int k) const {
  const auto& layer = *nodes[parameters[k]].layer;
  if (layer.outputs.empty()) return layer.name;
  // Converters from PyTorch call an output "63" and "attention_mask".
  const auto& names = layer.outputs[0].names;
  const auto named = std::find_if(names.begin(), names.end(), [](const auto& name) { return !is_integer(name); });
  return named == names.end() ? layer.name : *named;
}

std::string Model::result_name(int k) const {
  const auto& result = nodes[results[k]];
  if (!result.layer->output_names.empty()) return result.layer->output_names[0];
  if (result.inputs.empty() || result.inputs[0].node < 0) return result.layer->name;
  const auto& producer = *nodes[result.inputs[0].node].layer;
  const auto& port = producer.outputs[result.inputs[0].port];
  return port.names.empty() ? producer.name : port.names[0];
}

std::string attribute_of(const Node& node, std::string_view name) {
  if (!node.attrs) return {};
  const auto* def = node.version->attrs.find(name);
  return def ? def->print(node.attrs.get()).value_or("") : std::string();
}

std::size_t count_layers(const Model& model) {
  auto n = model.nodes.size();
  for (const auto& node : model.nodes)
    for (const auto& body : node.bodies) n += count_layers(*body);
  return n;
}

std::vector<bool> used_nodes(const Model& model) {
  std::vector<bool> used(model.nodes.size(), false);
  bool any = false;
  for (std::size_t i = model.nodes.size(); i-- > 0;) {
    const auto& node = model.nodes[i];
    any |= node.ends();
    used[i] = used[i] || node.ends() || (node.op && node.op->kind == Kind::parameter);
    if (!used[i]) continue;
    for (const auto& v : node.inputs)
      if (v.node >= 0) used[v.node] = true;
  }
  if (!any) used.assign(used.size(), true);
  return used;
}

std::optional<ByteRange> stored_bytes(const Node& node) {
  if (!node.op || node.op->kind != Kind::constant || !node.attrs || node.layer->added) return std::nullopt;
  const auto& a = node.as<ConstantAttrs>();
  if (a.offset < 0 || a.size < 0) return std::nullopt;
  const auto end = checked_add(a.offset, a.size);
  return end ? std::optional(ByteRange{a.offset, *end}) : std::nullopt;
}

ElementType exchanged_type(const Model& model, ElementType declared, bool input) {
  using enum ElementType;
  if (model.graph->ir_version != 10 || declared == dynamic || declared == string) return declared;
  if (input) return declared == f16 ? f32 : declared;
  return contains(set_of(i32, u32, i64, u64), declared) ? i32 : f32;
}

}  // namespace ovir
