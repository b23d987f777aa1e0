// A body (of If, Loop, TensorIterator) as an operation sees it: which of its parameters and results meet which port.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "diag/diagnostic.hpp"
#include "tensor/dim.hpp"
#include "tensor/element_type.hpp"

namespace ovir {

/// Slicing an input along `axis` into a parameter, or concatenating a result along it into an output; axis < 0: whole.
struct BodyLink {
  int port = -1;  ///< 0-based input or output of the outer layer; -1: none
  int inner = 0;  ///< index among the body's Parameters or Results, in file order
  bool sliced = false;
  i64 axis = 0, start = 0, end = -1, stride = 1, part_size = 1;
  SourceLoc axis_at, start_at, end_at;  ///< in the port map
};
struct BodyFeedback {
  int result = 0, parameter = 0;
};

struct BodyMap {
  std::string role;  ///< "body", "then_body", "else_body"
  int parameter_count = 0, result_count = 0;
  std::vector<BodyLink> inputs, outputs;
  std::vector<BodyFeedback> feedback;
  int iteration_parameter = -1;                   ///< receives the number of the iteration (Loop); -1: none
  ElementType iteration_type = ElementType::i64;  ///< what the file declares of that Parameter
  PartialShape iteration_shape = PartialShape::unknown_rank();
  int condition_result = -1;  ///< says whether to go on (Loop); -1: none
};

}  // namespace ovir
