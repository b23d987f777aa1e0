// ovir's own kernels of the fast tier: compiled ahead of time, so a single run starts at once.
#pragma once
#include "op/fast.hpp"

namespace ovir::fast {

Kernel prepare_convolution(const NodeView&);
Kernel prepare_group_convolution(const NodeView&);
Kernel prepare_matmul(const NodeView&);

}  // namespace ovir::fast
