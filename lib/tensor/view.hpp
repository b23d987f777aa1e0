// View: the elements of a tensor where they lie. Planned kernels read and write views.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <typeinfo>

#include "base/int.hpp"
#include "tensor/element_type.hpp"
#include "tensor/holds.hpp"

namespace ovir {

/// How the elements of a shape lie in memory.
enum class Layout : std::uint8_t {
  plain,    ///< row-major
  blocked,  ///< [N,C,spatial...] as [N][C/16][spatial...][16], channels padded with zeros to a multiple of 16; of
            ///< elements that take less than f32 as many more channels are a block: always 64 bytes
};
inline constexpr i64 kBlock = 16;  ///< channels of a block of f32
/// Channels of a block of any other element type.
constexpr i64 block_channels(ElementType type) { return 64 / byte_width(type); }

/// Bytes with a type and a shape. Owns and allocates nothing: bytes and dims must outlive it.
struct View {
  ElementType type = ElementType::dynamic;
  Layout layout = Layout::plain;
  std::span<const i64> dims;  ///< the shape; channels are not padded here
  std::byte* data = nullptr;
  /// How long it is in memory along the axis along which it grows; 0: as `dims` say. Only who asks for such operands
  /// (Kernel::reads_grown) meets them.
  i64 room = 0;

  i64 rank() const { return std::ssize(dims); }
  i64 dim(i64 axis) const { return dims[axis]; }
  /// The number of elements, without the padding.
  i64 size() const {
    i64 n = 1;
    for (const auto d : dims) n *= d;
    return n;
  }
  /// Throws std::logic_error where a T does not hold the element type.
  template <class T>
  T* as() const {
    if (!holds<T>(type)) wrong_access(type, false, typeid(T));
    return reinterpret_cast<T*>(data);
  }
};

}  // namespace ovir
