// Graph: an IR file as it stands, layers, ports and edges with their places in the XML. Knows no operation.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "diag/diagnostic.hpp"
#include "tensor/dim.hpp"
#include "tensor/element_type.hpp"

namespace ovir {

class Tensor;

struct Attribute {
  std::string name, value;  ///< entities decoded
  SourceLoc at;             ///< of the value
};

/// A <port> as declared. `declared_shape` is absent for an output port without <dim>s only when the file says so by
/// leaving the rank unknown; a scalar has no <dim>s either, so [] is compared leniently.
struct Port {
  i64 id = 0;
  std::optional<ElementType> declared_type;
  std::optional<PartialShape> declared_shape;
  std::vector<std::string> names;  ///< tensor names (outputs)
  SourceLoc at;
};

/// How a body's parameters and results meet the outer layer's ports (If, Loop, TensorIterator).
struct PortMap {
  enum class Direction : std::uint8_t { input, output } direction{};
  i64 external_port = -1;   ///< the file's port id; -1: not connected (Loop's iteration counter, condition)
  i64 internal_layer = 0;   ///< layer id in the body
  std::optional<i64> axis;  ///< sliced or concatenated along this axis
  i64 start = 0, end = -1, stride = 1, part_size = 1;
  std::string purpose;  ///< "", "current_iteration", "execution_condition"
  SourceLoc at;
};
struct BackEdge {
  i64 from_layer = 0, to_layer = 0;  ///< layer ids in the body: a Result feeds a Parameter
  SourceLoc at;
};

struct Graph;
struct Body {
  std::string role;  ///< "body", "then_body", "else_body"
  std::shared_ptr<const Graph> graph;
  std::vector<PortMap> port_map;
  std::vector<BackEdge> back_edges;
};

struct Layer {
  std::string id_text;                    ///< as the file spells it
  i64 id = 0;                             ///< below zero where the file's cannot be read
  std::string name, type, version;        ///< version: "opset8", "extension", ...
  std::vector<Attribute> attributes;      ///< of <data>
  std::vector<std::string> output_names;  ///< the `output_names` of a Result
  std::vector<Port> inputs, outputs;
  std::vector<Body> bodies;
  SourceLoc at;          ///< of the <layer> tag
  bool damaged = false;  ///< a part could not be read, and a diagnostic said so: not judged further
  bool added = false;    ///< stands for something else than a <layer>: the means of <pre-process>, where `at` is then
  std::shared_ptr<const Tensor> value;  ///< of an added Constant, whose value is not bytes of the .bin as they are
  const Attribute* attribute(std::string_view attribute_name) const;
};

struct Edge {
  i64 from_layer, from_port, to_layer, to_port;  ///< ids as in the file
  SourceLoc at;
};

/// An <rt_info>-like tree, kept as text for `info`.
struct InfoEntry {
  std::string path, value;  ///< "conversion_parameters/input_model", "…"
};

struct Graph {
  std::string name;
  i64 ir_version = 0;
  std::shared_ptr<const SourceFile> source;
  std::vector<Layer> layers;    ///< in file order
  std::vector<Layer> left_out;  ///< faulty, and not needed (passes/unused)
  std::vector<Edge> edges;
  std::vector<InfoEntry> rt_info;
  bool damaged = false;                  ///< a layer or edge could not be read: what seems to be missing may be that
  std::string weights_path;              ///< empty: none
  std::shared_ptr<const Bytes> weights;  ///< null: none (--no-weights, or the file is missing)
};

/// Of its text and its weights.
inline i64 bytes_of(const Graph& graph) {
  const auto weights = graph.weights ? graph.weights->size() : 0;
  return (graph.source ? graph.source->text.size() : 0) + weights;
}

}  // namespace ovir
