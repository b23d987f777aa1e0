// From an element type to a C++ type: dispatch(type, Numbers{}, [&]<class T>() { ... }).
#pragma once
#include <cstdint>
#include <string_view>

#include "base/half.hpp"
#include "base/int.hpp"
#include "tensor/element_type.hpp"
#include "tensor/holds.hpp"

namespace ovir {

template <ElementType E, class T>
struct TypeEntry {
  static constexpr ElementType element = E;
  using type = T;
};
template <class... Entries>
struct TypeList {};
template <class... A, class... B>
constexpr TypeList<A..., B...> operator+(TypeList<A...>, TypeList<B...>) {
  return {};
}

/// What kernels compute in: narrower floats arrive as f32 (see EvalContext), narrower integers as bytes.
using Floats = TypeList<TypeEntry<ElementType::f32, float>, TypeEntry<ElementType::f64, double>>;
using Integers = TypeList<TypeEntry<ElementType::i64, i64>, TypeEntry<ElementType::i32, std::int32_t>,
                          TypeEntry<ElementType::i16, std::int16_t>, TypeEntry<ElementType::i8, std::int8_t>,
                          TypeEntry<ElementType::u64, std::uint64_t>, TypeEntry<ElementType::u32, std::uint32_t>,
                          TypeEntry<ElementType::u16, std::uint16_t>, TypeEntry<ElementType::u8, std::uint8_t>>;
using Indices = TypeList<TypeEntry<ElementType::i64, i64>, TypeEntry<ElementType::i32, std::int32_t>>;
using Numbers = decltype(Floats{} + Integers{});
using Boolean = TypeList<TypeEntry<ElementType::boolean, std::uint8_t>>;

/// Throws Failure (E0604): no kernel for this element type.
[[noreturn]] void no_kernel(ElementType);

template <class... E, class F>
void dispatch(ElementType type, TypeList<E...>, F&& f) {
  if (!((type == E::element && (f.template operator()<typename E::type>(), true)) || ...)) no_kernel(type);
}

/// By the width of an element in memory: for kernels that only move data.
template <class F>
void dispatch_width(int bytes, F&& f) {
  switch (bytes) {
    case 1: return f.template operator()<RawElement<1>>();
    case 2: return f.template operator()<RawElement<2>>();
    case 4: return f.template operator()<RawElement<4>>();
    case 8: return f.template operator()<RawElement<8>>();
    default: return f.template operator()<RawElement<sizeof(std::string_view)>>();
  }
}

}  // namespace ovir
