// Which element types a kernel is made for, and what its loops know of them.
#pragma once
#include "fast/isa/whole.hpp"
#include "tensor/dispatch.hpp"

namespace ovir::fast {

/// Whether dispatch() knows the type.
template <class... E>
constexpr bool is_among(ElementType type, TypeList<E...>) {
  return ((type == E::element) || ...);
}

/// Of an integer of whole bytes.
constexpr WholeType whole_type(ElementType type) {
  return {.bytes = byte_width(type), .is_signed = contains(kSigned, type)};
}

}  // namespace ovir::fast
