// Which C++ types read the elements of a tensor.
#pragma once
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <typeinfo>

#include "base/half.hpp"
#include "tensor/element_type.hpp"

namespace ovir {

/// An element of N bytes that is only moved.
template <std::size_t N>
struct alignas(N) RawElement {
  std::byte bytes[N];
};

namespace detail {

template <class T>
constexpr bool fits(ElementType type) {
  using enum ElementType;
  if (sizeof(T) != static_cast<std::size_t>(byte_width(type))) return false;
  if constexpr (std::is_same_v<T, float>) return type == f32;
  else if constexpr (std::is_same_v<T, double>) return type == f64;
  else if constexpr (std::is_same_v<T, ovir::f16>) return type == f16;
  else if constexpr (std::is_same_v<T, ovir::bf16>) return type == bf16;
  else if constexpr (std::is_same_v<T, ovir::f8e4m3>) return type == f8e4m3;
  else if constexpr (std::is_same_v<T, ovir::f8e5m2>) return type == f8e5m2;
  else if constexpr (std::is_same_v<T, ovir::f8e8m0>) return type == f8e8m0;
  else if constexpr (std::is_same_v<T, ovir::f4e2m1>) return type == f4e2m1;
  else if constexpr (std::is_same_v<T, ovir::nf4>) return type == nf4;
  else if constexpr (std::is_same_v<T, std::string_view>) return type == string;
  else if constexpr (std::is_integral_v<T> || std::is_same_v<T, std::byte>)
    return type != f32 && type != f64 && type != string;
  else return std::is_trivially_copyable_v<T>;
}

template <class T>
consteval TypeSet held_types() {
  TypeSet set = 0;
  for (int t = 0; t < kElementTypeCount; ++t)
    if (fits<T>(static_cast<ElementType>(t))) set |= set_of(static_cast<ElementType>(t));
  return set;
}

}  // namespace detail

/// An element of `type` may be read as a T of the same size: floats as their own type (f32 as float, f16 as f16),
/// integers and booleans as any integer, the bits of floats of up to 16 bits as integers too, strings as
/// std::string_view, and every type as a struct that is only moved (RawElement).
template <class T>
constexpr bool holds(ElementType type) {
  constexpr auto set = detail::held_types<std::remove_cv_t<T>>();
  return contains(set, type);
}

/// Throws std::logic_error: the caller asked for elements of `type` as a C++ type that does not hold them, or for
/// single elements where they are packed.
[[noreturn]] void wrong_access(ElementType type, bool packed, const std::type_info& cpp_type);

}  // namespace ovir
