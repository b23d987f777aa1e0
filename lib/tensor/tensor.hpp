// Tensor: element type, shape and shared bytes. A value: copying shares the bytes, and only who made them writes.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "tensor/dim.hpp"
#include "tensor/element_type.hpp"

namespace ovir {

/// Row-major dense elements. Types narrower than a byte are either `packed` (as in a .bin file) or, the normal case,
/// one byte an element. A string element is a std::string_view into text that the tensor keeps alive.
class Tensor {
 public:
  Tensor() = default;
  /// New, uninitialised, 64-byte aligned storage. Throws Failure (E0003) when the size overflows or memory is refused.
  Tensor(ElementType type, Shape shape);
  /// A view of bytes that `owner` keeps alive; `data` must be aligned to the element.
  Tensor(ElementType type, Shape shape, std::shared_ptr<const void> owner, const std::byte* data, bool packed = false);

  template <class T>
  static Tensor of(ElementType type, Shape shape, std::span<const T> values);
  /// A scalar or vector of i64.
  static Tensor i64(std::int64_t value);
  static Tensor i64(const std::vector<std::int64_t>& values);
  static Tensor strings(Shape shape, const std::vector<std::string>& values);

  explicit operator bool() const { return owner_ != nullptr; }
  ElementType type() const { return type_; }
  const Shape& shape() const { return shape_; }
  std::int64_t rank() const { return static_cast<std::int64_t>(shape_.size()); }
  std::int64_t dim(std::int64_t axis) const { return shape_[static_cast<std::size_t>(axis)]; }
  /// The number of elements.
  std::int64_t size() const { return size_; }
  bool packed() const { return packed_; }
  std::size_t byte_size() const { return byte_size_; }

  const std::byte* bytes() const { return data_; }
  /// For the maker of the tensor only.
  std::byte* mutable_bytes() { return const_cast<std::byte*>(data_); }
  template <class T>
  const T* data() const {
    return reinterpret_cast<const T*>(data_);
  }
  template <class T>
  T* mutable_data() {
    return reinterpret_cast<T*>(const_cast<std::byte*>(data_));
  }
  template <class T>
  std::span<const T> values() const {
    return {data<T>(), static_cast<std::size_t>(size_)};
  }
  template <class T>
  std::span<T> mutable_values() {
    return {mutable_data<T>(), static_cast<std::size_t>(size_)};
  }

  /// The same bytes under another shape of as many elements.
  Tensor reshaped(Shape shape) const;
  /// The same elements, one byte each, where they are packed; otherwise itself.
  Tensor unpacked() const;
  const std::shared_ptr<const void>& owner() const { return owner_; }
  /// Keeps `other`'s storage alive as long as this tensor (strings that were copied from it).
  void keep_alive(const Tensor& other);

 private:
  ElementType type_ = ElementType::dynamic;
  bool packed_ = false;
  Shape shape_;
  std::int64_t size_ = 0;
  std::size_t byte_size_ = 0;
  std::shared_ptr<const void> owner_;
  const std::byte* data_ = nullptr;
};

template <class T>
Tensor Tensor::of(ElementType type, Shape shape, std::span<const T> values) {
  Tensor t(type, std::move(shape));
  for (std::size_t i = 0; i < values.size() && i < static_cast<std::size_t>(t.size()); ++i)
    t.mutable_data<T>()[i] = values[i];
  return t;
}

/// Every element as i64 / double, whatever the stored type (floats are truncated towards zero by to_i64, out of range
/// saturates). Not for strings.
std::vector<std::int64_t> to_i64(const Tensor&);
std::vector<double> to_f64(const Tensor&);
/// Element-wise conversion with the rules of the operation Convert-1: to integers by truncation, to boolean by != 0,
/// to narrow floats by rounding to nearest even.
Tensor convert(const Tensor&, ElementType to);
/// Bit-for-bit packing into the .bin layout of the type (the inverse of Tensor::unpacked).
Tensor pack(const Tensor&);

/// Row-major strides in elements.
Shape strides_of(const Shape&);
/// The number of elements; throws Failure on overflow.
std::int64_t element_count(const Shape&);

}  // namespace ovir
