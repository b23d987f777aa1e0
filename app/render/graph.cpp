#include "render/graph.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "model/report.hpp"
#include "render/json.hpp"

namespace ovir::app {
namespace {

/// One layer, ready to be written in any format.
struct Row {
  std::string id, key, name, type, operation;  // key: unique also where bodies repeat ids
  struct Input {
    std::string key, id;
    int port = 0;
    std::string type;
  };
  std::vector<Input> inputs;
  std::vector<std::string> outputs;  // "f32[1,3]"
  std::vector<std::pair<std::string, std::string>> attributes;
  std::string value;  // of a small constant
  std::size_t line = 0;
};

std::string value_text(const Tensor& t) {
  if (!t || t.type() == ElementType::string || t.size() > 8) return "";
  std::string list;
  for (const auto v : to_f64(t.unpacked())) list += fmt::format("{}{:.6g}", list.empty() ? "" : ", ", v);
  return "{" + list + "}";
}

/// The facts of every model and body, by the model.
void find_facts(const Model& model, const Facts& facts, std::map<const Model*, const Facts*>& map) {
  map[&model] = &facts;
  for (std::size_t i = 0; i < model.nodes.size() && i < facts.bodies.size(); ++i)
    for (std::size_t b = 0; b < model.nodes[i].bodies.size() && b < facts.bodies[i].size(); ++b)
      find_facts(*model.nodes[i].bodies[b], facts.bodies[i][b], map);
}

std::vector<Row> rows(const View& view) {
  std::map<const Model*, const Facts*> facts;
  find_facts(view.model, view.facts, facts);
  const LineIndex lines(*view.model.graph->source);
  std::vector<Row> list;
  std::set<const Node*> seen;
  for (const auto& s : view.selected) {
    const auto& model = *s.model;
    const auto& node = model[s.node];
    if (!seen.insert(&node).second) continue;
    const auto& layer = *node.layer;
    const auto known = [&](ValueRef v) -> Fact {
      const auto at = facts.find(&model);
      if (v.node < 0 || at == facts.end() || static_cast<std::size_t>(v.node) >= at->second->outputs.size()) return {};
      const auto& outputs = at->second->outputs[static_cast<std::size_t>(v.node)];
      return static_cast<std::size_t>(v.port) < outputs.size() ? outputs[static_cast<std::size_t>(v.port)] : Fact{};
    };
    Row row{layer.id_text,
            model.path + layer.id_text,
            model.path + layer.name,
            layer.type,
            node.version ? fmt::format("{}-{}", layer.type, node.version->since) : layer.type,
            {},
            {},
            {},
            {},
            0};
    for (const auto& v : node.inputs) {
      const auto id = v.node < 0 ? std::string("?") : model[v.node].layer->id_text;
      row.inputs.push_back({model.path + id, id, v.port, describe(known(v))});
    }
    for (int o = 0; o < node.output_count; ++o) row.outputs.push_back(describe(known({s.node, o})));
    for (const auto& a : layer.attributes) row.attributes.emplace_back(a.name, a.value);
    row.value = value_text(node.constant);
    row.line = lines(layer.at.offset).line;
    list.push_back(std::move(row));
  }
  return list;
}

std::string shortened(std::string_view text, std::size_t length) {
  return printable(text.size() > length ? std::string(text.substr(0, length)) + "..." : std::string(text));
}

/// Quotes and what else ends a label.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

/// Numbers for the nodes of a drawing, and the edges between those that are shown.
struct Drawing {
  std::map<std::string, std::size_t> numbers;
  explicit Drawing(const std::vector<Row>& list) {
    for (const auto& row : list) numbers.emplace(row.key, numbers.size());
  }
  template <class F>
  void edges(const std::vector<Row>& list, F&& f) const {
    for (const auto& row : list)
      for (const auto& in : row.inputs)
        if (const auto from = numbers.find(in.key); from != numbers.end())
          f(from->second, numbers.at(row.key), in.type);
  }
};

}  // namespace

std::string graph_text(const View& view, const Style& style) {
  std::string out;
  for (const auto& row : rows(view)) {
    std::string inputs, outputs, attributes;
    for (const auto& in : row.inputs)
      inputs += fmt::format("{}%{}{}", inputs.empty() ? "" : ", ", printable(in.id),
                            in.port > 0 ? fmt::format(":{}", in.port) : "");
    for (const auto& o : row.outputs) outputs += (outputs.empty() ? "" : ", ") + o;
    for (const auto& [name, value] : row.attributes)
      if (row.value.empty())
        attributes += fmt::format("{}{}={}", attributes.empty() ? " {" : ", ", printable(name), shortened(value, 60));
    if (!attributes.empty()) attributes += "}";
    if (!row.value.empty()) attributes = " = " + row.value;
    out += fmt::format("{} = {}({}){}{}  {}\n", style(Paint::note, "%" + printable(row.id)),
                       style(Paint::bold, printable(row.operation)), inputs, style(Paint::dim, attributes),
                       outputs.empty() ? "" : " : " + outputs,
                       style(Paint::dim, fmt::format("# \"{}\" line {}", printable(row.name), row.line)));
  }
  return out;
}

std::string graph_json(const View& view) {
  Json layers = Json::array();
  for (const auto& row : rows(view)) {
    Json inputs = Json::array(), attributes = Json::object();
    for (const auto& in : row.inputs)
      inputs.push_back({{"layer_id", id_json(in.id)}, {"port", in.port}, {"type", in.type}});
    for (const auto& [name, value] : row.attributes) attributes[name] = value;
    layers.push_back({{"id", id_json(row.id)},
                      {"name", row.name},
                      {"type", row.type},
                      {"operation", row.operation},
                      {"line", row.line},
                      {"inputs", std::move(inputs)},
                      {"outputs", row.outputs},
                      {"attributes", std::move(attributes)}});
    if (!row.value.empty()) layers.back()["value"] = row.value;
  }
  return json_text({{"schema", 1}, {"model", view.file}, {"layers", std::move(layers)}}, 2);
}

std::string graph_dot(const View& view) {
  const auto list = rows(view);
  const Drawing drawing(list);
  std::string out =
      fmt::format("digraph \"{}\" {{\n  node [shape=box, fontname=\"sans-serif\"];\n", escaped(view.model.graph->name));
  for (const auto& row : list)
    out += fmt::format("  n{} [label=\"{} {}\\n{}\"];\n", drawing.numbers.at(row.key), escaped(row.id),
                       escaped(row.operation), escaped(row.name));
  drawing.edges(list, [&](auto from, auto to, const std::string& type) {
    out += fmt::format("  n{} -> n{} [label=\"{}\"];\n", from, to, escaped(type));
  });
  return out + "}\n";
}

std::string graph_mermaid(const View& view) {
  const auto list = rows(view);
  const Drawing drawing(list);
  std::string out = "flowchart TD\n";
  const auto label = [](std::string_view text) { return html_text(text); };
  for (const auto& row : list)
    out += fmt::format("  n{}[\"{} {}<br>{}\"]\n", drawing.numbers.at(row.key), label(row.id), label(row.operation),
                       label(row.name));
  drawing.edges(list, [&](auto from, auto to, const std::string& type) {
    out += fmt::format("  n{} -->|\"{}\"| n{}\n", from, label(type), to);
  });
  return out;
}

std::string graph_html(const View& view) {
  const auto list = rows(view);
  const Drawing drawing(list);
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>\n<style>\n"
      "body {{ font: 14px sans-serif; margin: 2em; }} table {{ border-collapse: collapse; }} td, th {{ padding: .2em "
      ".8em; text-align: left; vertical-align: top; }}\n"
      "tr:target {{ background: #ffc; }} td.c {{ font-family: monospace; }} tr.h {{ display: none; }} input {{ font: "
      "inherit; width: 30em; }}\n"
      "</style></head><body>\n<h1>{0}</h1>\n<p>{1} of {2}. <input id=\"q\" placeholder=\"part of a name or "
      "type\"></p>\n"
      "<table>\n<thead><tr><th>id<th>operation<th>name<th>inputs<th>outputs<th>attributes<th>line</tr></"
      "thead><tbody>\n",
      html_text(view.model.graph->name.empty() ? view.file : view.model.graph->name), count(list.size(), "layer"),
      html_text(view.file));
  for (const auto& row : list) {
    std::string inputs, outputs, attributes;
    for (const auto& in : row.inputs) {
      const auto from = drawing.numbers.find(in.key);
      const auto text = html_text(fmt::format("{}:{}", in.id, in.port));
      inputs += from == drawing.numbers.end() ? text : fmt::format("<a href=\"#n{}\">{}</a>", from->second, text);
      inputs += " " + html_text(in.type) + "<br>";
    }
    for (const auto& o : row.outputs) outputs += html_text(o) + "<br>";
    for (const auto& [name, value] : row.attributes)
      attributes += html_text(name + "=" + shortened(value, 60)) + "<br>";
    if (!row.value.empty()) attributes = html_text(row.value);
    out += fmt::format(
        "<tr id=\"n{}\"><td>{}<td>{}<td>{}<td class=\"c\">{}<td class=\"c\">{}<td class=\"c\">{}<td>{}</tr>\n",
        drawing.numbers.at(row.key), html_text(row.id), html_text(row.operation), html_text(row.name), inputs, outputs,
        attributes, row.line);
  }
  return out +
         "</tbody></table>\n<script>\nq.oninput = () => { const s = q.value.toLowerCase();\n"
         "  for (const r of document.querySelectorAll('tbody tr')) r.className = "
         "r.textContent.toLowerCase().includes(s) ? '' : 'h'; };\n</script>\n</body></html>\n";
}

}  // namespace ovir::app
