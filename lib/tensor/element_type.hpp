// Element types of OpenVINO IR: their names, widths and sets.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/int.hpp"

namespace ovir {

enum class ElementType : std::uint8_t {
  dynamic,
  f64,
  f32,
  f16,
  bf16,
  f8e4m3,
  f8e5m2,
  f8e8m0,
  f4e2m1,
  nf4,
  i64,
  i32,
  i16,
  i8,
  i4,
  u64,
  u32,
  u16,
  u8,
  u6,
  u4,
  u3,
  u2,
  u1,
  boolean,
  string,
};
inline constexpr int kElementTypeCount = 26;

/// The lower-case word of `element_type` attributes: "f32", "i64", "boolean"; "dynamic" for an unknown type.
std::string_view name(ElementType);
/// The upper-case word of a port's `precision`: "FP32", "I64", "BOOL".
std::string_view precision_name(ElementType);
/// Reads either spelling, whatever the case ("FP32", "f32", "BOOL", "boolean", "UNSPECIFIED"); nothing for any other
/// word.
std::optional<ElementType> parse_element_type(std::string_view);
/// The type that a word which is none was meant to be, perhaps.
std::optional<ElementType> nearest_element_type(std::string_view);

/// Bits an element takes in a .bin file; 0 for string and dynamic.
constexpr int bit_width(ElementType type) {
  using enum ElementType;
  switch (type) {
    case u1: return 1;
    case u2: return 2;
    case u3: return 3;
    case f4e2m1:
    case nf4:
    case i4:
    case u4: return 4;
    case u6: return 6;
    case f8e4m3:
    case f8e5m2:
    case f8e8m0:
    case i8:
    case u8:
    case boolean: return 8;
    case f16:
    case bf16:
    case i16:
    case u16: return 16;
    case f32:
    case i32:
    case u32: return 32;
    case f64:
    case i64:
    case u64: return 64;
    default: return 0;
  }
}
/// Bytes an element takes in memory, where elements narrower than a byte are unpacked to one byte each.
/// A string is held as a std::string_view.
constexpr int byte_width(ElementType type) {
  return type == ElementType::string ? static_cast<int>(sizeof(std::string_view)) : (bit_width(type) + 7) / 8;
}
/// Bytes that `count` elements take in a .bin file (u3 and u6 are stored as whole planes of 8 and 4 elements).
/// Nothing on overflow or for a string.
std::optional<i64> packed_size(ElementType, i64 count);

using TypeSet = std::uint32_t;
constexpr TypeSet set_of(auto... types) { return (0u | ... | (1u << static_cast<int>(types))); }
constexpr bool contains(TypeSet set, ElementType t) { return (set >> static_cast<int>(t)) & 1u; }

inline constexpr TypeSet kIndex = set_of(ElementType::i32, ElementType::i64);
inline constexpr TypeSet kBoolean = set_of(ElementType::boolean);
inline constexpr TypeSet kFloat = set_of(ElementType::f64, ElementType::f32, ElementType::f16, ElementType::bf16);
inline constexpr TypeSet kSigned =
    set_of(ElementType::i64, ElementType::i32, ElementType::i16, ElementType::i8, ElementType::i4);
inline constexpr TypeSet kUnsigned =
    set_of(ElementType::u64, ElementType::u32, ElementType::u16, ElementType::u8, ElementType::u6, ElementType::u4,
           ElementType::u3, ElementType::u2, ElementType::u1);
inline constexpr TypeSet kInteger = kSigned | kUnsigned;
inline constexpr TypeSet kNarrowFloat =
    set_of(ElementType::f8e4m3, ElementType::f8e5m2, ElementType::f8e8m0, ElementType::f4e2m1, ElementType::nf4);
inline constexpr TypeSet kNumeric = kFloat | kNarrowFloat | kInteger;
inline constexpr TypeSet kAnyType = (1u << kElementTypeCount) - 1;

/// Whether elements of the type are floating-point numbers, of whatever width.
constexpr bool is_float(ElementType type) { return contains(kFloat | kNarrowFloat, type); }

}  // namespace ovir
