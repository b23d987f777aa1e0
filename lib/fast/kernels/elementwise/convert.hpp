// Elements in another type, by the rules of the specification's Convert as tensor/convert.cpp has them.
#pragma once
#include <cstddef>

#include "base/int.hpp"
#include "tensor/element_type.hpp"

namespace ovir::fast {

inline constexpr TypeSet kConverted =
    kBoolean | set_of(ElementType::f32, ElementType::f16, ElementType::bf16, ElementType::i64, ElementType::i32,
                      ElementType::i16, ElementType::i8, ElementType::u32, ElementType::u16, ElementType::u8);

/// y = x as `to`; both types are of kConverted, and y lies elsewhere.
void convert_elements(ElementType from, const std::byte* x, ElementType to, std::byte* y, i64 n);

/// y = x as it is in `narrow`, f16 or bf16.
void round_elements(const float* x, ElementType narrow, float* y, i64 n);

}  // namespace ovir::fast
