#include "render/diff.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"

namespace ovir::app {
namespace {

using Kind = tools::ModelChange::Kind;

std::string_view kind_word(Kind kind) {
  switch (kind) {
    case Kind::removed: return "removed";
    case Kind::added: return "added";
    case Kind::renamed: return "renamed";
    case Kind::operation: return "operation";
    case Kind::attribute: return "attribute";
    case Kind::input: return "input";
    case Kind::output: return "output";
    case Kind::tensor_names: return "tensor_names";
    case Kind::values: return "values";
    case Kind::connections: return "connections";
    case Kind::order: return "order";
    case Kind::info: return "info";
  }
  return "";
}

std::string name_of(const tools::LayerPlace& place) {
  return fmt::format("\"{}{}\" ({})", printable(place.model->path), printable(place.layer().name),
                     printable(place.layer().type));
}

std::string shown(const std::optional<std::string>& value) {
  constexpr std::size_t longest = 100;
  if (!value) return "none";
  if (value->empty()) return "\"\"";
  return value->size() > longest ? printable(value->substr(0, longest)) + "..." : printable(*value);
}

/// "attribute strides: 1,1 -> 2,2".
std::string line_of(const tools::ModelChange& change) {
  const auto from_to = [&](std::string_view what) {
    return fmt::format("{}: {} -> {}", what, shown(change.before), shown(change.after));
  };
  switch (change.kind) {
    case Kind::renamed: return from_to("name");
    case Kind::operation: return from_to("operation");
    case Kind::attribute: return from_to("attribute " + printable(change.what));
    case Kind::input: return from_to(fmt::format("input {}", change.port));
    case Kind::output: return from_to(fmt::format("output {}", change.port));
    case Kind::tensor_names:
      return from_to(change.port < 0 ? "tensor names" : fmt::format("tensor names of output {}", change.port));
    case Kind::connections: return from_to(fmt::format("connections of {}", change.what));
    case Kind::order: return from_to(fmt::format("order of the {}", change.what));
    case Kind::info: return from_to(printable(change.what));
    case Kind::values:
      return fmt::format("values: {} of {} differ, by {:.6g} at most", change.delta->changed, change.delta->elements,
                         change.delta->max_abs);
    case Kind::removed:
    case Kind::added: break;
  }
  return {};
}

Json place_json(const tools::LayerPlace& place) {
  return {{"id", id_json(place.layer().id_text)},
          {"name", place.model->path + place.layer().name},
          {"type", place.layer().type},
          {"path", place.model->path}};
}

}  // namespace

std::string diff_text(const tools::ModelDifference& difference, const Style& style) {
  std::string out;
  const tools::ModelChange* last = nullptr;
  for (const auto& change : difference.changes) {
    if (change.kind == Kind::removed) {
      out += style(Paint::error, "- " + name_of(*change.a)) + "\n";
    } else if (change.kind == Kind::added) {
      out += style(Paint::help, "+ " + name_of(*change.b)) + "\n";
    } else {
      const bool fresh = !last || last->b.has_value() != change.b.has_value() ||
                         (change.b && (last->b->model != change.b->model || last->b->node != change.b->node));
      if (fresh) out += style(Paint::warning, "~ " + (change.b ? name_of(*change.b) : "the model")) + "\n";
      out += "    " + line_of(change) + "\n";
    }
    last = change.kind == Kind::removed || change.kind == Kind::added ? nullptr : &change;
  }
  return out;
}

std::string diff_summary(const tools::ModelDifference& difference) {
  i64 removed = 0, added = 0;
  std::set<std::pair<const Model*, int>> changed;
  for (const auto& change : difference.changes) {
    removed += change.kind == Kind::removed;
    added += change.kind == Kind::added;
    if (change.a && change.b) changed.emplace(change.b->model, change.b->node);
  }
  if (difference.equal()) return "no difference";
  return fmt::format("{} removed, {} added, {} changed", counted(removed, "layer"), added, changed.size());
}

Json diff_json(const tools::ModelDifference& difference) {
  auto changes = Json::array();
  const auto text = [](const std::optional<std::string>& value) { return value ? Json(*value) : Json(); };
  for (const auto& change : difference.changes) {
    Json entry{{"kind", kind_word(change.kind)}};
    if (change.a || change.b) entry["layer"] = place_json(change.a ? *change.a : *change.b);
    if (change.a && change.b) entry["to_layer"] = place_json(*change.b);
    if (!change.what.empty()) entry["what"] = change.what;
    if (change.port >= 0) entry["port"] = change.port;
    if (change.before || change.after) {
      entry["before"] = text(change.before);
      entry["after"] = text(change.after);
    }
    if (change.delta) {
      entry["changed"] = change.delta->changed;
      entry["elements"] = change.delta->elements;
      entry["max_abs"] = change.delta->max_abs;
    }
    changes.push_back(std::move(entry));
  }
  return {{"schema", 1},
          {"equal", difference.equal()},
          {"changes", std::move(changes)},
          {"not_compared", difference.not_compared}};
}

namespace {

/// "1, 8" and "1,8" are written alike.
std::string plain(std::string_view value) {
  std::string out;
  for (const auto part : split(value, ',')) out += (out.empty() ? "" : ",") + printable(trim(part));
  return out;
}

void append_graph(const Model& model, std::string& out) {
  std::vector<const Node*> nodes;
  for (const auto& node : model.nodes) nodes.push_back(&node);
  std::sort(nodes.begin(), nodes.end(),
            [](const Node* a, const Node* b) { return a->layer->at.offset < b->layer->at.offset; });
  for (const auto* const node : nodes) {
    const auto& layer = *node->layer;
    const bool constant = node->op && node->op->kind == ovir::Kind::constant;
    out += fmt::format("\n\"{}{}\" = {} {}\n", printable(model.path), printable(layer.name), printable(layer.type),
                       printable(layer.version));
    auto attributes = layer.attributes;
    std::sort(attributes.begin(), attributes.end(),
              [](const Attribute& a, const Attribute& b) { return a.name < b.name; });
    for (const auto& attribute : attributes)
      if (!constant || attribute.name != "offset")
        out += fmt::format("  {} ={}{}\n", printable(attribute.name), attribute.value.empty() ? "" : " ",
                           plain(attribute.value));
    for (std::size_t p = 0; p < node->inputs.size(); ++p) {
      const auto& v = node->inputs[p];
      const auto from = v.node < 0 ? "none" : fmt::format("\"{}\":{}", printable(model[v.node].layer->name), v.port);
      out += fmt::format("  input {}: {}\n", p, from);
    }
    for (std::size_t p = 0; p < layer.outputs.size(); ++p) {
      const auto& port = layer.outputs[p];
      out += fmt::format("  output {}: {}{}", p, name(port.declared_type.value_or(ElementType::dynamic)),
                         to_string(port.declared_shape.value_or(PartialShape::unknown_rank())));
      for (const auto& name : port.names) out += fmt::format(" \"{}\"", printable(name));
      out += "\n";
    }
    for (const auto& name : layer.output_names) out += fmt::format("  name \"{}\"\n", printable(name));
    for (std::size_t b = 0; b < node->bodies.size(); ++b) {
      if (b < node->maps.size())
        for (const auto& line : tools::connections(*node->bodies[b], node->maps[b]))
          out += fmt::format("  {}: {}\n", node->maps[b].role, printable(line));
      append_graph(*node->bodies[b], out);
    }
  }
}

}  // namespace

std::string canonical_text(const Model& model) {
  auto out = fmt::format("net \"{}\" version {}\n", printable(model.graph->name), model.graph->ir_version);
  append_graph(model, out);
  if (!model.graph->rt_info.empty()) out += "\n";
  for (const auto& entry : model.graph->rt_info)
    out += fmt::format("rt_info {} = {}\n", printable(entry.path), printable(entry.value));
  return out;
}

}  // namespace ovir::app
