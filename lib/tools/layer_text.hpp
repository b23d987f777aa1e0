// New layers and edges as the text of an IR file.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/model.hpp"
#include "xml/tags.hpp"

namespace ovir::tools {

/// How the elements of a list are set apart: what stands before each, "\n\t\t", and one step further in.
struct Indent {
  std::string before, step;
};
/// As the elements of `list` stand, the first of which begins at `first`.
Indent indent_in(std::string_view text, const xml::ElementText& list, std::size_t first);

/// A tensor's type, shape and names, as a port declares them.
struct PortText {
  ElementType type = ElementType::dynamic;
  PartialShape shape;
  std::vector<std::string> names{};
};
/// What is known of a value of `model`; where nothing was inferred, what is declared. `facts` may be null.
PortText port_text(const Model& model, const Facts* facts, const ValueRef& v);

/// {"a", "b,c"} -> "a,b\\,c": the inverse of xml::tensor_names.
std::string names_list(const std::vector<std::string>& names);
/// What a Result of output `port` is called, as OpenVINO does: "relu1/sink_port_0".
std::string result_name(const Layer& layer, int port);

std::string parameter_text(const Indent& indent, i64 id, std::string_view name, const PortText& port);
/// Its values are the bytes [offset, offset + size) of the .bin.
std::string constant_text(const Indent& indent, i64 id, std::string_view name, const PortText& port, i64 offset,
                          i64 size);
/// A layer with one output; its inputs declare neither type nor shape.
std::string compute_text(const Indent& indent, const Layer& layer, const PortText& output);
std::string result_text(const Indent& indent, i64 id, std::string_view name, const PortText& port);
std::string edge_text(const Indent& indent, i64 from_layer, i64 from_port, i64 to_layer, i64 to_port);

/// Puts text behind the last of the elements of a list, <edges/> being an empty one.
Replacement added_to(const std::shared_ptr<const SourceFile>& source, const xml::ElementText& list,
                     const std::vector<xml::ElementText>& elements, std::string text);

/// Ids and names that a graph does not have yet.
class Unused {
 public:
  explicit Unused(const Graph& graph);
  i64 id();
  /// `wanted`, or with underscores behind it.
  std::string name(std::string wanted);
  /// That layer goes: its name may be used.
  void free(const std::string& layer_name);

 private:
  std::vector<i64> ids_;            // sorted
  std::vector<std::string> names_;  // sorted
  i64 next_ = 0;
};

}  // namespace ovir::tools
