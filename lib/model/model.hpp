// Model: a Graph whose layers are bound to operation versions, attributes parsed, edges checked, in topological order.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "op/body.hpp"
#include "op/fact.hpp"
#include "op/op_def.hpp"

namespace ovir {

/// An output of a node; node < 0: nothing feeds this input.
struct ValueRef {
  int node = -1;
  int port = 0;
};

struct Model;
struct Node {
  const Layer* layer = nullptr;
  const OpDef* op = nullptr;  ///< null: unknown or unsupported, its outputs are unknown
  const Version* version = nullptr;
  std::shared_ptr<const void> attrs;
  std::vector<ValueRef> inputs;
  int output_count = 0;
  std::vector<std::shared_ptr<const Model>> bodies;
  std::vector<BodyMap> maps;  ///< one a body
  Tensor constant;            ///< of a Constant: a view of the .bin
  bool faulty = false;        ///< a diagnostic was given: not judged further

  /// A Result or an Assign: what the model is computed for.
  bool ends() const { return op && (op->kind == Kind::result || op->kind == Kind::assign); }
  /// The attributes; throws std::logic_error where they are no A, or could not be read (`attrs` is null).
  template <class A>
  const A& as() const {
    return version->attrs.as<A>(attrs.get());
  }
};

struct Model {
  std::shared_ptr<const Graph> graph;
  std::string path;                      ///< "loop1/body/" of a body, "" of the whole
  std::vector<Node> nodes;               ///< in topological order
  std::vector<int> parameters, results;  ///< indices of nodes, in file order
  bool complete = true;                  ///< no fault was found in resolving: may be run

  const Node& operator[](int i) const { return nodes[i]; }
  /// What users call parameter k: its first tensor name that is not a number, else its layer name.
  std::string parameter_name(int k) const;
  /// First tensor name that the file gives result k, else its producer's layer name.
  std::string result_name(int k) const;
};

/// An attribute as a file may spell it, also where this one leaves it to its default: for who compares words and knows
/// no struct. Empty where it has no value, the version has none of this name, or the attributes could not be read.
std::string attribute_of(const Node& node, std::string_view name);

/// Per node: it is a Parameter, or a Result or Assign depends on it. Where the model has neither, all are used.
std::vector<bool> used_nodes(const Model&);

/// Layers of the model and of all bodies within.
std::size_t count_layers(const Model&);

/// The bytes [begin, end) of the .bin that are a Constant's; nothing for other nodes, and where its attributes are
/// faulty.
struct ByteRange {
  i64 begin = 0, end = 0;
};
std::optional<ByteRange> stored_bytes(const Node& node);

/// The element type in which an input or output is exchanged with the user: the declared one, but for IR 10, of which
/// OpenVINO takes f16 inputs as f32 and gives integer outputs of 32 and 64 bits as i32, all others as f32.
ElementType exchanged_type(const Model& model, ElementType declared, bool input);

/// For every node, a fact for every output.
struct Facts {
  std::vector<std::vector<Fact>> outputs;
  std::vector<std::vector<Facts>> bodies;  ///< per node, per body (the fixed point)
  std::vector<bool> unknown;               ///< per node: nothing was inferred, for a fault in it or in what it needs
  bool sound = false;                      ///< inference found no error: the model may be run
  const Fact& of(ValueRef v) const { return outputs[v.node][v.port]; }
};

}  // namespace ovir
