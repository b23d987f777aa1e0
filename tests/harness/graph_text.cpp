#include "graph_text.hpp"

#include <cstdint>

#include <fmt/core.h>

namespace ovir::spec {
namespace {

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '&') result += "&amp;";
    else if (c == '<') result += "&lt;";
    else if (c == '"') result += "&quot;";
    else if (c == '\n') result += "&#10;";
    else result += c;
  }
  return result;
}

/// The inside of the brackets.
std::string dims_of(const PartialShape& shape) {
  const auto text = to_string(shape);
  return text.substr(1, text.size() - 2);
}

/// Strings are stored as their count, the offsets of their ends and their text.
std::string string_bytes(const Tensor& t) {
  std::string words, text;
  const auto add = [&](std::size_t n) {
    const auto w = static_cast<std::uint32_t>(n);
    words.append(reinterpret_cast<const char*>(&w), sizeof w);
  };
  add(static_cast<std::size_t>(t.size()));
  add(0);
  for (const auto s : t.values<std::string_view>()) {
    text += s;
    add(text.size());
  }
  return words + text;
}

}  // namespace

std::string data_element(const AttributeTexts& attributes) {
  std::string data;
  for (const auto& [name, value] : attributes) data += fmt::format(R"( {}="{}")", name, escaped(value));
  return data.empty() ? "" : "<data" + data + "/>";
}

std::string output_port(int id, ElementType type, const PartialShape* shape) {
  std::string dims;
  if (shape && shape->has_rank())
    for (const auto& d : *shape) dims += fmt::format("<dim>{}</dim>", d.is_static() ? d.length() : -1);
  return fmt::format("<port id=\"{}\" precision=\"{}\">{}</port>", id, precision_name(type), dims);
}

int GraphText::parameter(const std::string& name, ElementType type, const PartialShape& shape) {
  return layer(name, "Parameter", "opset1",
               fmt::format(R"(<data shape="{}" element_type="{}"/>)", dims_of(shape), ovir::name(type)), {},
               output_port(0, type, &shape));
}

int GraphText::constant(const std::string& name, const Tensor& value) {
  std::string bytes;
  if (value.type() == ElementType::string) {
    bytes = string_bytes(value);
  } else {
    const auto packed = pack(value);
    bytes.assign(reinterpret_cast<const char*>(packed.bytes()), packed.byte_size());
  }
  bin_.resize((bin_.size() + 63) / 64 * 64 + misplaced_);
  const auto offset = bin_.size();
  bin_ += bytes;
  const PartialShape shape(value.shape());
  return layer(name, "Const", "opset1",
               fmt::format(R"(<data element_type="{}" shape="{}" offset="{}" size="{}"/>)", ovir::name(value.type()),
                           dims_of(shape), offset, bytes.size()),
               {}, output_port(0, value.type(), &shape));
}

int GraphText::layer(const std::string& name, const std::string& type, const std::string& version,
                     const std::string& data, const std::vector<int>& inputs, const std::string& ports,
                     const std::string& inner) {
  const auto id = next_++;
  std::string in;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    in += fmt::format(R"(<port id="{}"/>)", k);
    edge(inputs[k], first_output_[inputs[k]], id, static_cast<int>(k));
  }
  first_output_[id] = static_cast<int>(inputs.size());
  layers_ += fmt::format("<layer id=\"{}\" name=\"{}\" type=\"{}\" version=\"{}\">{}{}{}{}</layer>\n", id,
                         escaped(name), type, version, data, in.empty() ? "" : "<input>" + in + "</input>",
                         ports.empty() ? "" : "<output>" + ports + "</output>", inner);
  return id;
}

int GraphText::add(const std::string& name, std::string_view operation, const std::vector<int>& inputs,
                   const AttributeTexts& attributes) {
  const auto dash = operation.rfind('-');
  return layer(name, std::string(operation.substr(0, dash)), "opset" + std::string(operation.substr(dash + 1)),
               data_element(attributes), inputs, output_port(static_cast<int>(inputs.size()), ElementType::dynamic));
}

int GraphText::sink(const std::string& name, std::string_view operation, int of, const AttributeTexts& attributes) {
  const auto dash = operation.rfind('-');
  return layer(name, std::string(operation.substr(0, dash)), "opset" + std::string(operation.substr(dash + 1)),
               data_element(attributes), {of}, "");
}

int GraphText::output(int of, int port) {
  const auto id = next_++;
  layer_of_[id] = of;
  first_output_[id] = first_output_[of] + port;
  return id;
}

int GraphText::result(const std::string& name, int of, int port) {
  const auto id = layer(name, "Result", "opset1", "", {}, "");
  layers_.insert(layers_.rfind("</layer>"), R"(<input><port id="0"/></input>)");
  edge(of, port, id, 0);
  return id;
}

void GraphText::edge(int from, int from_port, int to, int to_port) {
  if (const auto layer = layer_of_.find(from); layer != layer_of_.end()) from = layer->second;
  edges_ += fmt::format("<edge from-layer=\"{}\" from-port=\"{}\" to-layer=\"{}\" to-port=\"{}\"/>\n", from, from_port,
                        to, to_port);
}

std::string GraphText::xml() const {
  return "<?xml version=\"1.0\"?>\n<net name=\"test\" version=\"11\">\n" + text() + "</net>\n";
}

}  // namespace ovir::spec
