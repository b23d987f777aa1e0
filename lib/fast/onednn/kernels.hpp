// The kernels of the oneDNN module: f32 (and what is computed in f32), dense row-major tensors in and out.
// Each prepare function gives an empty kernel where oneDNN has nothing faster than the reference kernel.
#pragma once
#include "op/fast.hpp"

namespace ovir::fast::onednn {

Kernel prepare_convolution(const NodeView&);
Kernel prepare_group_convolution(const NodeView&);
Kernel prepare_matmul(const NodeView&);
Kernel prepare_max_pool(const NodeView&);
Kernel prepare_avg_pool(const NodeView&);

}  // namespace ovir::fast::onednn
