// Between operations f16 and bf16 values stay in the f32 that they were computed in: what session and kernels ask of
// it.
#pragma once
#include <algorithm>
#include <span>

#include "tensor/tensor.hpp"

namespace ovir {

inline bool is_half(ElementType t) { return t == ElementType::f16 || t == ElementType::bf16; }

/// Whether an input comes as f32, declared so or not: beside it an input that is stored as f16 or bf16 counts as f32.
inline bool any_widened(std::span<const Tensor> inputs) {
  return std::any_of(inputs.begin(), inputs.end(), [](const Tensor& t) { return t.type() == ElementType::f32; });
}

}  // namespace ovir
