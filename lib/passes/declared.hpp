// What a file declares of its ports, against what was inferred.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "diag/diagnostic.hpp"
#include "model/model.hpp"

namespace ovir::passes {

/// What the file says of the node's outputs.
std::vector<Fact> declared_outputs(const Node& node);

class DeclaredCheck {
 public:
  DeclaredCheck(const Model& model, Diagnostics& diagnostics) : model_(model), diagnostics_(diagnostics) {}

  /// W0901 for every port of `node` where the file and the inference cannot both be right. `facts` holds what was
  /// inferred of the node's inputs; `outputs` of the node itself. `received`: it is a Parameter of a body.
  void compare(const Node& node, const Facts& facts, std::span<const Fact> outputs, bool received);

 private:
  const Model& model_;
  Diagnostics& diagnostics_;
  std::optional<std::map<std::pair<int, int>, bool>>
      readers_;  ///< of outputs that are read: whether by others than Results

  /// IR 10 declares at its Results the types in which values are exchanged, and of outputs that nothing reads any type.
  /// `output`: -1 for an input of `node`.
  bool is_interface(const Node& node, int output, ElementType type, ElementType inferred);
};

}  // namespace ovir::passes
