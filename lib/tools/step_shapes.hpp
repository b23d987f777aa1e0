// Shapes of the inputs of inferences in a row that keep their states: a mask covers what the states hold, too.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "passes/passes.hpp"

namespace ovir::tools {

/// Follows the shapes of the states from inference to inference, by shape inference alone.
class StepShapes {
 public:
  explicit StepShapes(const Model& model) : model_(model) {}

  /// The states that the first inference begins with, by variable; the others have their initial shapes.
  void begin_with(std::map<std::string, PartialShape> states) { states_ = std::move(states); }
  /// Of the next inference. `shapes`: by Parameter, as they would be without states. `masks`: Parameters, and what the
  /// length of their last axis may be; to it the length of a state is added, the longest that the model accepts.
  std::vector<Shape> next(std::vector<Shape> shapes, const std::map<int, Dim>& masks);

 private:
  const Model& model_;
  std::map<std::string, PartialShape> states_;  ///< when the next inference begins
  /// Axes whose lengths a variable leaves open; known from the first inference on.
  std::optional<std::map<std::string, std::vector<i64>>> open_;

  void begin(const Facts& facts);
};

}  // namespace ovir::tools
