// Means that a file holds beside its graph, as layers of the graph.
#pragma once
#include <memory>

#include "graph/graph.hpp"
#include "tensor/shape.hpp"

namespace ovir {

/// What is subtracted from an input, in the input's element type.
struct Mean {
  ElementType type = ElementType::dynamic;
  Shape input_shape, shape;             ///< of the input, of the mean
  std::shared_ptr<const Tensor> value;  ///< null: not known, as the .bin was not read
};

/// Adds a Constant (`input/mean`) and a Subtract (`input/subtract_mean`); what read `input`, one of the graph's layers
/// with one output, reads the difference. `at` is the place of the mean in the file.
void subtract_mean(Graph& graph, const Layer& input, Mean mean, const SourceLoc& at);

}  // namespace ovir
