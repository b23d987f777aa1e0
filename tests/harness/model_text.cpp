#include "model_text.hpp"

#include <map>

#include <fmt/core.h>

#include "base/text.hpp"
#include "graph_text.hpp"
#include "values.hpp"

namespace ovir::spec {
namespace {

/// The layer that gives an input of the operation.
int add_source(GraphText& graph, const Source& s) {
  if (s.constant) return graph.constant(s.name, s.constant);
  if (s.parts.empty()) return graph.parameter(s.name, s.type, s.shape);
  std::vector<int> parts;
  for (const auto& [value, shape] : s.parts) {
    const auto part = fmt::format("{}[{}]", s.name, parts.size());
    if (value) {
      parts.push_back(graph.constant(part, value));
    } else {
      const auto of = graph.parameter(part + "_of", ElementType::u8, shape);
      parts.push_back(graph.layer(part, "ShapeOf", "opset3",
                                  fmt::format(R"(<data output_type="{}"/>)", ovir::name(s.type)), {of},
                                  output_port(1, s.type, nullptr)));
    }
  }
  return graph.layer(s.name, "Concat", "opset1", R"(<data axis="0"/>)", parts,
                     output_port(static_cast<int>(parts.size()), s.type, nullptr));
}

PortText typed(const std::vector<Word>& line, std::size_t i) {
  PortText port;
  const auto& text = line.at(i).text;
  const auto bracket = text.find('[');
  const auto type = parse_element_type(std::string_view(text).substr(0, bracket));
  const auto shape = bracket == text.npos ? std::nullopt : parse_shape(std::string_view(text).substr(bracket));
  if (!type || !shape) throw std::runtime_error(fmt::format("\"{}\" is no type[shape]", text));
  port.name = line[0].text;
  port.type = *type;
  port.shape = *shape;
  port.line = line[0].line;
  port.values.assign(line.begin() + static_cast<std::ptrdiff_t>(std::min(i + 2, line.size())), line.end());
  return port;
}

/// A body and its port map; `inputs` is how many inputs the outer layer has.
class BodyWriter {
 public:
  BodyWriter(std::string& bin, std::size_t inputs) : graph_(bin), inputs_(inputs) {}

  std::string run(const BodyText& body) {
    for (const auto& line : body.lines) {
      try {
        statement(line);
      } catch (const std::out_of_range&) {
        throw std::runtime_error(fmt::format("line {} of the body is not understood", line[0].line));
      }
    }
    const std::string map_name =
        body.role == "body" ? "port_map" : body.role.substr(0, body.role.find('_')) + "_port_map";
    auto text =
        fmt::format("<{}>{}</{}>\n<{}>\n{}</{}>\n", map_name, map_, map_name, body.role, graph_.text(), body.role);
    if (!back_.empty()) text += "<back_edges>" + back_ + "</back_edges>";
    return text;
  }

 private:
  void statement(const std::vector<Word>& line) {
    const auto& key = line[0].text;
    if (line.size() > 2 && line[1].is("=")) {
      definition(line);
    } else if (key == "input") {  // input 1 -> x [axis=0 …]
      map_ += fmt::format(R"(<input external_port_id="{}" internal_layer_id="{}"{}/>)", line.at(1).text,
                          layers_.at(line.at(3).text), options(line));
    } else if (key == "output") {  // output y -> 0 [axis=0 …]
      const auto k = parse_number<std::size_t>(line.at(3).text).value();
      map_ += fmt::format(R"(<output external_port_id="{}" internal_layer_id="{}"{}/>)", inputs_ + k,
                          result(line.at(1).text), options(line));
    } else if (key == "back") {  // back y -> x
      back_ +=
          fmt::format(R"(<edge from-layer="{}" to-layer="{}"/>)", result(line.at(1).text), layers_.at(line.at(3).text));
    } else if (key == "condition") {
      map_ += fmt::format(R"(<output external_port_id="-1" internal_layer_id="{}" purpose="execution_condition"/>)",
                          result(line.at(1).text));
    } else if (key == "iteration") {
      map_ += fmt::format(R"(<input external_port_id="-1" internal_layer_id="{}" purpose="current_iteration"/>)",
                          layers_.at(line.at(1).text));
    } else {
      throw std::out_of_range(key);
    }
  }

  void definition(const std::vector<Word>& line) {  // y = Type-N a b attr name = value
    const auto& name = line[0].text;
    const auto& what = line[2].text;
    if (what == "Parameter") {
      const auto port = typed(line, 3);
      layers_[name] = graph_.parameter(name, port.type, port.shape);
    } else if (what == "Constant") {
      const auto port = typed(line, 3);
      layers_[name] =
          graph_.constant(name, make_tensor(port.type, port.shape.to_shape(), expand(port, port.shape.to_shape())));
    } else {
      const auto dash = what.rfind('-');
      std::vector<int> inputs;
      std::vector<std::pair<std::string, std::string>> attributes;
      for (std::size_t i = 3; i < line.size(); ++i) {
        if (line[i].is("attr")) {
          attributes.emplace_back(line.at(i + 1).text, line.at(i + 3).text);
          i += 3;
        } else {
          inputs.push_back(layers_.at(line[i].text));
        }
      }
      layers_[name] =
          graph_.layer(name, what.substr(0, dash), "opset" + what.substr(dash + 1), data_element(attributes), inputs,
                       output_port(static_cast<int>(inputs.size()), ElementType::dynamic, nullptr));
    }
  }

  int result(const std::string& of) {
    const auto id = layers_.at(of);
    if (!results_.contains(of)) results_[of] = graph_.result(of + "/result", id, graph_.first_output(id));
    return results_[of];
  }

  static std::string options(const std::vector<Word>& line) {
    std::string text;
    for (std::size_t i = 4; i < line.size(); ++i) {
      const auto& w = line[i].text;
      const auto equals = w.find('=');
      if (equals == w.npos) throw std::out_of_range(w);
      text += fmt::format(R"( {}="{}")", w.substr(0, equals), w.substr(equals + 1));
    }
    return text;
  }

  GraphText graph_;
  std::size_t inputs_;
  std::string map_, back_;
  std::map<std::string, int> layers_, results_;
};

}  // namespace

ModelText model_text(const NodeText& node) {
  ModelText model;
  model.bin.assign(64, '\0');  // never empty, even where nothing is constant
  GraphText graph(model.bin);
  std::vector<int> sources;
  for (const auto& s : node.inputs) sources.push_back(add_source(graph, s));
  std::string ports, inner;
  for (std::size_t k = 0; k < node.outputs.size(); ++k)
    ports += output_port(static_cast<int>(node.inputs.size() + k), node.outputs[k], nullptr);
  for (const auto& body : node.bodies) inner += BodyWriter(model.bin, node.inputs.size()).run(body);
  const auto op = graph.layer("op", node.type, fmt::format("opset{}", node.opset), data_element(node.attributes),
                              sources, ports, inner);
  for (std::size_t k = 0; k < node.outputs.size(); ++k)
    graph.result(fmt::format("result{}", k), op, static_cast<int>(node.inputs.size() + k));
  model.xml = graph.xml();
  return model;
}

}  // namespace ovir::spec
