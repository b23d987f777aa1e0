// diff: what two models have in common, and what not.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/model.hpp"

namespace ovir::tools {

/// How the values of two Constants of one shape differ, as numbers. NaN equals NaN.
struct ValuesDelta {
  i64 changed = 0, elements = 0;
  double max_abs = 0;  ///< of the differences; NaN where only one of two values is
};

/// A layer of a model or of a body within it.
struct LayerPlace {
  const Model* model = nullptr;
  int node = -1;
  const Layer& layer() const { return *(*model)[node].layer; }
};

struct ModelChange {
  enum class Kind : std::uint8_t {
    removed,       ///< `a` has no counterpart
    added,         ///< `b` has none
    renamed,       ///< the names of `a` and `b`
    operation,     ///< type and opset
    attribute,     ///< `what` is its name
    input,         ///< where input `port` comes from
    output,        ///< element type and shape of output `port`
    tensor_names,  ///< of output `port`, or of a Result
    values,        ///< of a Constant
    connections,   ///< of a body: which inputs and outputs of the layer meet which of its Parameters and Results
    order,         ///< `what` is "inputs" or "outputs"
    info,          ///< of the model: `what` is a path in <rt_info>, "name" or "version"
  } kind{};
  std::optional<LayerPlace> a, b;
  std::string what{};
  int port = -1;
  std::optional<std::string> before{}, after{};  ///< nothing: it is not there
  std::optional<ValuesDelta> delta{};
};

struct ModelDifference {
  std::vector<ModelChange> changes;
  i64 not_compared = 0;  ///< Constants whose values are not there, or cannot be compared
  bool equal() const { return changes.empty(); }
};

/// A model and what was inferred of it.
struct DiffSide {
  const Model& model;
  const Facts& facts;
};

/// How a body meets the layer around it, sorted: "input 2 -> v", "next -> output 0 axis=0 start=0 …".
std::vector<std::string> connections(const Model& body, const BodyMap& map);

/// Layers are the same that have a name in common; others where their neighbors say so. Ids, the order of layers and
/// the <rt_info> of layers are not compared. What is removed comes first, then what is added, then what differs, in the
/// order of the second model; a body after the layers around it.
ModelDifference diff(const DiffSide& a, const DiffSide& b);

}  // namespace ovir::tools
