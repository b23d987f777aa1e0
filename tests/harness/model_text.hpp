// A model of one operation as IR text and weights, so that a .spec case goes the whole way: read, resolve, infer, plan,
// run.
#pragma once
#include <string>
#include <vector>

#include "spec.hpp"
#include "tensor/tensor.hpp"

namespace ovir::spec {

/// Where an input of the operation comes from.
struct Source {
  std::string name;
  ElementType type = ElementType::dynamic;
  PartialShape shape;
  Tensor constant;  ///< a Constant where there is one, else a Parameter
  /// Else, where there are some, a Concat: of each element a Constant, or what a ShapeOf says of a Parameter of that
  /// shape.
  std::vector<std::pair<Tensor, PartialShape>> parts;
};

struct NodeText {
  std::string type;
  int opset = 1;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<Source> inputs;
  std::vector<ElementType> outputs;
  std::vector<BodyText> bodies;
};

struct ModelText {
  std::string xml, bin;
};

/// Parameters come in the order of the inputs. Throws std::runtime_error where a body is not understood.
ModelText model_text(const NodeText& node);

}  // namespace ovir::spec
