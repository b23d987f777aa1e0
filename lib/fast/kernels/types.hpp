// Which element types a kernel is made for.
#pragma once
#include "tensor/dispatch.hpp"

namespace ovir::fast {

/// Whether dispatch() knows the type.
template <class... E>
constexpr bool is_among(ElementType type, TypeList<E...>) {
  return ((type == E::element) || ...);
}

}  // namespace ovir::fast
