// The stages between a Graph and a Session: one file, one function each.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "diag/diagnostic.hpp"
#include "model/model.hpp"
#include "op/op_def.hpp"

namespace ovir::passes {

/// Graph -> Model. Every fault goes to `diagnostics`; the layers it touches are marked and the rest still resolved.
std::shared_ptr<const Model> resolve(std::shared_ptr<const Graph> graph, const Registry& registry,
                                     Diagnostics& diagnostics);

struct InferOptions {
  /// Shapes that replace those of the Parameters, by index in file order.
  std::map<int, PartialShape> shapes;
  /// Shapes that variables have when the inference begins, by id; those of the others are as their ReadValue says.
  std::map<std::string, PartialShape> states = {};
  bool compare_declared = true;  ///< W0901
  /// End at the first layer at fault; the facts end there, too.
  bool stop_at_fault = false;
  i64* inferred = nullptr;  ///< counts inferences of layers, those of bodies as often as they are repeated
};
/// Model -> Facts: element type, shape and small values of every output.
Facts infer(const Model& model, const InferOptions& options, Diagnostics& diagnostics);

}  // namespace ovir::passes
