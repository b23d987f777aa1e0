// How operations align operands of different shapes.
#pragma once
#include "plan/pattern.hpp"

namespace ovir::fast {

/// Whether a node whose attributes have `auto_broadcast` aligns operands by their last axes, or has them of one shape:
/// whatever is not PaddlePaddle's rule.
bool aligns_by_numpy(const Graphlet& graph, int node);

}  // namespace ovir::fast
