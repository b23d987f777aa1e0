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
  std::string id, key, name, type, operation, body;  // key: unique also where bodies repeat ids
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
  /// Of a body's Parameter or Result: where its value comes from or goes to, outside or in the next iteration.
  struct Link {
    bool incoming = false;
    std::string key;   // of the layer at the other end; empty: none
    std::string name;  // of that layer, with its path
    std::string what;  // "input 2 sliced along axis 0", "next iteration", "iteration number", "condition"
  };
  std::vector<Link> links;
};

std::string value_text(const Tensor& t) {
  if (!t || t.type() == ElementType::string || t.size() > 8) return "";
  std::string list;
  const auto add = [&](const std::string& text) { list += (list.empty() ? "" : ", ") + text; };
  if (contains(kInteger, t.type()))
    for (const auto v : to_i64(t.unpacked())) add(std::to_string(v));
  else
    for (const auto v : to_f64(t.unpacked())) add(fmt::format("{:.6g}", v));
  return "{" + list + "}";
}

std::string key_of(const Model& model, int node) { return node < 0 ? "?" : model.path + model[node].layer->id_text; }

std::string name_of(const Model& model, int node) { return node < 0 ? "?" : model.path + model[node].layer->name; }

std::string slice_text(const BodyLink& link, std::string_view how) {
  if (!link.sliced) return {};
  return fmt::format(" {} along axis {}{}", how, link.axis,
                     link.stride < 0       ? " from the end"
                     : link.part_size != 1 ? fmt::format(" by {}", link.part_size)
                                           : "");
}

/// The links of a body's Parameters and Results, by their key.
void add_links(const Model& outer, int node, const Model& body, const BodyMap& map,
               std::map<std::string, std::vector<Row::Link>>& links) {
  const auto parameter = [&](int k) { return key_of(body, body.parameters.at(k)); };
  const auto result = [&](int k) { return key_of(body, body.results.at(k)); };
  const auto layer = key_of(outer, node);
  const auto layer_name = name_of(outer, node);
  const auto parameter_name = [&](int k) { return name_of(body, body.parameters.at(k)); };
  const auto result_name = [&](int k) { return name_of(body, body.results.at(k)); };
  for (const auto& link : map.inputs) {
    if (link.port < 0) continue;
    const auto& inputs = outer[node].inputs;
    const auto port = link.port;
    const auto from = port < std::ssize(inputs) ? inputs[port].node : -1;
    links[parameter(link.inner)].push_back(
        {true, key_of(outer, from), name_of(outer, from),
         fmt::format("input {} of %{}{}", link.port, layer, slice_text(link, "sliced"))});
  }
  if (map.iteration_parameter >= 0)
    links[parameter(map.iteration_parameter)].push_back({true, "", "", "iteration number"});
  for (const auto& edge : map.feedback) {
    links[parameter(edge.parameter)].push_back(
        {true, result(edge.result), result_name(edge.result), "previous iteration"});
    links[result(edge.result)].push_back(
        {false, parameter(edge.parameter), parameter_name(edge.parameter), "next iteration"});
  }
  if (map.condition_result >= 0) links[result(map.condition_result)].push_back({false, layer, layer_name, "condition"});
  for (const auto& link : map.outputs)
    if (link.port >= 0)
      links[result(link.inner)].push_back(
          {false, layer, layer_name, fmt::format("output {}{}", link.port, slice_text(link, "concatenated"))});
}

void find_links(const Model& model, std::map<std::string, std::vector<Row::Link>>& links) {
  for (int i = 0; i < std::ssize(model.nodes); ++i) {
    const auto& node = model.nodes[i];
    for (std::size_t b = 0; b < node.bodies.size(); ++b) {
      if (b < node.maps.size()) add_links(model, i, *node.bodies[b], node.maps[b], links);
      find_links(*node.bodies[b], links);
    }
  }
}

/// "<- %0 (input 2 of %3), <- %loop/body/3 (previous iteration)"
std::string links_text(const Row& row) {
  std::string out;
  for (const auto& link : row.links)
    out +=
        fmt::format("{}{} {}", out.empty() ? "" : ", ", link.incoming ? "<-" : "->",
                    link.key.empty() ? link.what : fmt::format("%{} ({})", printable(link.key), printable(link.what)));
  return out;
}

/// The facts of every model and body, by the model.
void find_facts(const Model& model, const Facts& facts, std::map<const Model*, const Facts*>& map) {
  map[&model] = &facts;
  for (std::size_t i = 0; i < model.nodes.size() && i < facts.bodies.size(); ++i)
    for (std::size_t b = 0; b < model.nodes[i].bodies.size() && b < facts.bodies[i].size(); ++b)
      find_facts(*model.nodes[i].bodies[b], facts.bodies[i][b], map);
}

std::vector<Row> rows(const GraphView& view) {
  std::map<const Model*, const Facts*> facts;
  find_facts(view.model, view.facts, facts);
  std::map<std::string, std::vector<Row::Link>> links;
  find_links(view.model, links);
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
      if (v.node < 0 || at == facts.end() || v.node >= std::ssize(at->second->outputs)) return {};
      const auto& outputs = at->second->outputs[v.node];
      return v.port < std::ssize(outputs) ? outputs[v.port] : Fact{};
    };
    Row row{layer.id_text,
            model.path + layer.id_text,
            model.path + layer.name,
            layer.type,
            node.version ? fmt::format("{}-{}", layer.type, node.version->since) : layer.type,
            model.path,
            {},
            {},
            {},
            {},
            0,
            {}};
    for (const auto& v : node.inputs) {
      const auto id = v.node < 0 ? std::string("?") : model[v.node].layer->id_text;
      row.inputs.push_back({model.path + id, id, v.port, describe(known(v))});
    }
    for (int o = 0; o < node.output_count; ++o) row.outputs.push_back(describe(known({s.node, o})));
    for (const auto& a : layer.attributes) row.attributes.emplace_back(a.name, a.value);
    row.value = value_text(node.constant);
    row.line = lines(layer.at.offset).line;
    if (const auto found = links.find(row.key); found != links.end()) row.links = found->second;
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
  /// The connections of bodies: those of Parameters, and of Results to the layer around them.
  template <class F>
  void links(const std::vector<Row>& list, F&& f) const {
    for (const auto& row : list)
      for (const auto& link : row.links) {
        const auto other = numbers.find(link.key);
        if (other == numbers.end() || (!link.incoming && link.what == "next iteration")) continue;
        const auto self = numbers.at(row.key);
        f(link.incoming ? other->second : self, link.incoming ? self : other->second, link.what);
      }
  }
};

}  // namespace

std::string graph_text(const GraphView& view, const Style& style) {
  std::string out;
  for (const auto& row : rows(view)) {
    std::string inputs, outputs, attributes;
    for (const auto& in : row.inputs)
      inputs += fmt::format("{}%{}{}", inputs.empty() ? "" : ", ", printable(in.key),
                            in.port > 0 ? fmt::format(":{}", in.port) : "");
    for (const auto& o : row.outputs) outputs += (outputs.empty() ? "" : ", ") + o;
    for (const auto& [name, value] : row.attributes)
      if (row.value.empty())
        attributes += fmt::format("{}{}={}", attributes.empty() ? " {" : ", ", printable(name), shortened(value, 60));
    if (!attributes.empty()) attributes += "}";
    if (!row.value.empty()) attributes = " = " + row.value;
    const auto linked = links_text(row);
    out += fmt::format("{} = {}({}){}{}{}  {}\n", style(Paint::note, "%" + printable(row.key)),
                       style(Paint::bold, printable(row.operation)), inputs, style(Paint::dim, attributes),
                       outputs.empty() ? "" : " : " + outputs, linked.empty() ? "" : "  " + style(Paint::place, linked),
                       style(Paint::dim, fmt::format("# \"{}\" line {}", printable(row.name), row.line)));
  }
  return out;
}

std::string graph_json(const GraphView& view) {
  Json layers = Json::array();
  for (const auto& row : rows(view)) {
    Json inputs = Json::array(), attributes = Json::object();
    for (const auto& in : row.inputs)
      inputs.push_back({{"layer_id", id_json(in.id)}, {"key", in.key}, {"port", in.port}, {"type", in.type}});
    for (const auto& [name, value] : row.attributes) attributes[name] = value;
    layers.push_back({{"id", id_json(row.id)},
                      {"key", row.key},
                      {"name", row.name},
                      {"type", row.type},
                      {"operation", row.operation},
                      {"line", row.line},
                      {"inputs", std::move(inputs)},
                      {"outputs", row.outputs},
                      {"attributes", std::move(attributes)}});
    if (!row.value.empty()) layers.back()["value"] = row.value;
    for (const auto& link : row.links)
      layers.back()["links"].push_back({{"direction", link.incoming ? "in" : "out"},
                                        {"key", link.key.empty() ? Json() : Json(link.key)},
                                        {"name", link.key.empty() ? Json() : Json(link.name)},
                                        {"what", link.what}});
  }
  return json_text({{"schema", 1}, {"model", view.file}, {"layers", std::move(layers)}}, 2);
}

std::string graph_dot(const GraphView& view) {
  const auto list = rows(view);
  const Drawing drawing(list);
  std::string out =
      fmt::format("digraph \"{}\" {{\n  node [shape=box, fontname=\"sans-serif\"];\n", escaped(view.model.graph->name));
  std::string body;
  for (const auto& row : list) {
    if (row.body != body) {
      if (!body.empty()) out += "  }\n";
      body = row.body;
      if (!body.empty())
        out +=
            fmt::format("  subgraph \"cluster_{0}\" {{\n  label=\"{0}\";\n", escaped(body.substr(0, body.size() - 1)));
    }
    out += fmt::format("  n{} [label=\"{} {}\\n{}\"];\n", drawing.numbers.at(row.key), escaped(row.id),
                       escaped(row.operation), escaped(row.name));
  }
  if (!body.empty()) out += "  }\n";
  drawing.edges(list, [&](auto from, auto to, const std::string& type) {
    out += fmt::format("  n{} -> n{} [label=\"{}\"];\n", from, to, escaped(type));
  });
  drawing.links(list, [&](auto from, auto to, const std::string& what) {
    out += fmt::format("  n{} -> n{} [style=dashed, label=\"{}\"];\n", from, to, escaped(what));
  });
  return out + "}\n";
}

std::string graph_mermaid(const GraphView& view) {
  const auto list = rows(view);
  const Drawing drawing(list);
  std::string out = "flowchart TD\n";
  const auto label = [](std::string_view text) { return html_text(text); };
  std::string body;
  for (const auto& row : list) {
    if (row.body != body) {
      if (!body.empty()) out += "  end\n";
      body = row.body;
      if (!body.empty())
        out += fmt::format("  subgraph b{}[\"{}\"]\n", drawing.numbers.at(row.key),
                           label(body.substr(0, body.size() - 1)));
    }
    out += fmt::format("  n{}[\"{} {}<br>{}\"]\n", drawing.numbers.at(row.key), label(row.id), label(row.operation),
                       label(row.name));
  }
  if (!body.empty()) out += "  end\n";
  drawing.edges(list, [&](auto from, auto to, const std::string& type) {
    out += fmt::format("  n{} -->|\"{}\"| n{}\n", from, label(type), to);
  });
  drawing.links(list, [&](auto from, auto to, const std::string& what) {
    out += fmt::format("  n{} -.->|\"{}\"| n{}\n", from, label(what), to);
  });
  return out;
}

namespace {

constexpr std::string_view kPage = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{0}</title>
<style>
body {{ font: 14px sans-serif; margin: 2em; }}
input {{ font: inherit; width: 30em; }}
table {{ border-collapse: collapse; }}
th {{ position: sticky; top: 0; background: #eee; }}
td, th {{ padding: .2em .8em; text-align: left; vertical-align: top; border-bottom: 1px solid #ddd; }}
tr:target {{ background: #ffc; }}
td.c {{ font-family: monospace; overflow-wrap: anywhere; }}
tr.h {{ display: none; }}
</style></head><body>
<h1>{0}</h1>
<p>{1} of {2}. <input id="q" placeholder="part of a name or type"></p>
<table>
<thead><tr><th>id<th>operation<th>name<th>inputs<th>outputs<th>used by<th>attributes<th>line</tr></thead><tbody>
)";
constexpr std::string_view kPageEnd = R"(</tbody></table>
<script>
q.oninput = () => {
  const s = q.value.toLowerCase();
  for (const r of document.querySelectorAll('tbody tr'))
    r.className = r.textContent.toLowerCase().includes(s) ? '' : 'h';
};
</script>
</body></html>
)";

std::string anchor(const Drawing& drawing, const std::string& key, std::string_view text) {
  const auto at = drawing.numbers.find(key);
  return at == drawing.numbers.end() ? html_text(text)
                                     : fmt::format("<a href=\"#n{}\">{}</a>", at->second, html_text(text));
}

}  // namespace

std::string graph_html(const GraphView& view) {
  const auto list = rows(view);
  const Drawing drawing(list);
  std::map<std::string, std::string> users;
  for (const auto& row : list)
    for (const auto& in : row.inputs) users[in.key] += anchor(drawing, row.key, row.key) + "<br>";
  auto out = fmt::format(kPage, html_text(view.model.graph->name.empty() ? view.file : view.model.graph->name),
                         counted(list.size(), "layer"), html_text(view.file));
  for (const auto& row : list) {
    std::string inputs, outputs, attributes;
    for (const auto& in : row.inputs)
      inputs +=
          fmt::format("{} {}<br>", anchor(drawing, in.key, fmt::format("{}:{}", in.key, in.port)), html_text(in.type));
    for (const auto& o : row.outputs) outputs += html_text(o) + "<br>";
    for (const auto& link : row.links)
      (link.incoming ? inputs : outputs) += fmt::format("{} {} {}<br>", link.incoming ? "&larr;" : "&rarr;",
                                                        anchor(drawing, link.key, link.key), html_text(link.what));
    for (const auto& [name, value] : row.attributes)
      attributes += html_text(name + "=" + shortened(value, 60)) + "<br>";
    if (!row.value.empty()) attributes = html_text(row.value);
    out += fmt::format(
        "<tr id=\"n{}\"><td>{}<td>{}<td>{}<td class=\"c\">{}<td class=\"c\">{}<td class=\"c\">{}<td class=\"c\">{}"
        "<td>{}</tr>\n",
        drawing.numbers.at(row.key), html_text(row.key), html_text(row.operation), html_text(row.name), inputs, outputs,
        users[row.key], attributes, row.line);
  }
  return out += kPageEnd;
}

}  // namespace ovir::app
