// Softmax, as an operation or as models spell it out.
#pragma once
#include <optional>
#include <vector>

#include "plan/pattern.hpp"

namespace ovir::fast {

struct SoftmaxNodes {
  ValueRef x;
  i64 axis;                ///< as Softmax has it
  std::vector<int> nodes;  ///< in topological order; the last one gives the result
};
/// From a Softmax, or from the maximum on: e / sum(e), e = exp(x - max(x)) along one axis.
std::optional<SoftmaxNodes> softmax_from(const Graphlet& graph, int root);

}  // namespace ovir::fast
