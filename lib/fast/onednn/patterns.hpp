// The patterns of the oneDNN module: f32, row-major tensors in and out. A kernel refuses sizes for which oneDNN has
// only its reference code, which is slower than ours.
#pragma once
#include "plan/pattern.hpp"

namespace ovir::fast::onednn {

extern const Pattern kConvolution, kMatMul, kPool;

}  // namespace ovir::fast::onednn
