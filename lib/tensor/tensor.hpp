// Tensor: element type, shape and shared bytes. A value: copying shares the bytes, and only who made them writes.
#pragma once
#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "base/bytes.hpp"
#include "base/file_part.hpp"
#include "tensor/dim.hpp"
#include "tensor/element_type.hpp"
#include "tensor/holds.hpp"
#include "tensor/shape.hpp"
#include "tensor/view.hpp"

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
  /// The same of bytes at any address: where elements may not lie there, bytes() are a copy that is made as soon as
  /// somebody asks for them. Asking may then throw Failure (E0003).
  static Tensor anywhere(ElementType type, Shape shape, std::shared_ptr<const void> owner, const std::byte* data);
  /// What `make` gives, of this type and shape, as soon as somebody asks for bytes(). Asking may throw what it throws.
  static Tensor deferred(ElementType type, Shape shape, std::function<Tensor()> make);
  /// convert() to f32, which happens as soon as somebody asks for bytes().
  static Tensor widened(const Tensor& from);

  /// As many values as the shape has elements; throws std::logic_error otherwise.
  template <class T>
  static Tensor of(ElementType type, Shape shape, std::span<const T> values);
  /// An i64 of rank 0.
  static Tensor scalar(i64 value);
  /// i64 of rank 1.
  static Tensor vector(std::span<const i64> values);
  static Tensor vector(std::initializer_list<i64> values) { return vector(std::span(values.begin(), values.size())); }
  static Tensor strings(Shape shape, const std::vector<std::string>& values);

  explicit operator bool() const { return owner_ != nullptr; }
  ElementType type() const { return type_; }
  const Shape& shape() const { return shape_; }
  i64 rank() const { return shape_.rank(); }
  i64 dim(i64 axis) const { return shape_[axis]; }
  /// The number of elements.
  i64 size() const { return size_; }
  bool packed() const { return packed_; }
  std::size_t byte_size() const { return byte_size_; }

  const std::byte* bytes() const { return deferred_ ? made_bytes() : data_; }
  /// The same at any address: for those who copy them.
  const std::byte* source() const { return data_ ? data_ : bytes(); }
  /// The same in a mapped file; empty where they are in none.
  FilePart file_part() const;
  /// The same elements; where bytes() are made when somebody asks for them, they are made anew for this one, and go
  /// with it.
  [[nodiscard]] Tensor apart() const;
  /// Whoever has read the elements, or what they were widened from, in a mapped file will not need them there again.
  void leave_pages() const;
  /// For the maker of the tensor only.
  std::byte* mutable_bytes() { return const_cast<std::byte*>(bytes()); }
  // Typed access throws std::logic_error where a T does not hold the element type, or the elements are packed.
  template <class T>
  const T* data() const {
    check<T>();
    return reinterpret_cast<const T*>(bytes());
  }
  template <class T>
  T* mutable_data() {
    check<T>();
    return reinterpret_cast<T*>(mutable_bytes());
  }
  template <class T>
  std::span<const T> values() const {
    return std::span(data<T>(), size_);
  }
  template <class T>
  std::span<T> mutable_values() {
    return std::span(mutable_data<T>(), size_);
  }
  /// The elements where they lie, for as long as this tensor lives.
  View view() const { return {type_, Layout::plain, shape_, const_cast<std::byte*>(bytes())}; }

  /// The same bytes under another shape of as many elements.
  [[nodiscard]] Tensor reshaped(Shape shape) const;
  /// The same elements, one byte each, where they are packed; otherwise itself.
  [[nodiscard]] Tensor unpacked() const;
  const std::shared_ptr<const void>& owner() const { return owner_; }
  /// Nobody else shares the bytes: no other tensor, and no file that is mapped or buffer that belongs to others.
  bool exclusive() const { return allocated_ && owner_.use_count() == 1; }
  /// Bytes that `owner` alone keeps alive and that belong to those who share it, as if the tensor had allocated them.
  static Tensor adopt(ElementType type, Shape shape, std::shared_ptr<const void> owner, const std::byte* data);
  /// The same bytes as somebody else's: owned() of this tensor, or of one that shares it, is a copy.
  [[nodiscard]] Tensor borrowed() const;
  /// Itself where the bytes belong to the tensors that share them, otherwise a copy.
  [[nodiscard]] Tensor owned() const { return allocated_ ? *this : copied(); }
  /// The same elements, unpacked, in storage of their own.
  [[nodiscard]] Tensor copied() const;
  /// Keeps `other`'s storage alive as long as this tensor (strings that were copied from it).
  void keep_alive(const Tensor& other);

 private:
  struct Deferred;
  [[noreturn]] static void wrong_count(i64 given, const Shape&);
  const std::byte* made_bytes() const;
  template <class T>
  void check() const {
    if (packed_ || !holds<T>(type_)) wrong_access(type_, packed_, typeid(T));
  }

  ElementType type_ = ElementType::dynamic;
  bool packed_ = false;
  bool allocated_ = false;  // by the tensor, so that the bytes belong to those who share owner_
  bool deferred_ = false;   // owner_ is a Deferred, and data_ where the bytes lie at a wrong address, or null
  Shape shape_;
  i64 size_ = 0;
  std::size_t byte_size_ = 0;
  std::shared_ptr<const void> owner_;
  const std::byte* data_ = nullptr;
};
static_assert(std::is_nothrow_move_constructible_v<Tensor> && std::is_nothrow_move_assignable_v<Tensor>);

template <class T>
Tensor Tensor::of(ElementType type, Shape shape, std::span<const T> values) {
  Tensor t(type, std::move(shape));
  const auto to = t.mutable_values<T>();
  if (values.size() != to.size()) wrong_count(std::ssize(values), t.shape());
  std::copy(values.begin(), values.end(), to.begin());
  return t;
}

/// Every element as i64 / double, whatever the stored type (floats are truncated towards zero by to_i64, out of range
/// saturates). Not for strings.
std::vector<i64> to_i64(const Tensor&);
std::vector<double> to_f64(const Tensor&);
/// Element-wise conversion with the rules of the operation Convert-1: to integers by truncation, to boolean by != 0,
/// to narrow floats by rounding to nearest even.
[[nodiscard]] Tensor convert(const Tensor&, ElementType to);
/// Bit-for-bit packing into the .bin layout of the type (the inverse of Tensor::unpacked).
[[nodiscard]] Tensor pack(const Tensor&);

/// The number of elements; throws Failure on overflow.
inline i64 element_count(const Shape& shape) { return shape.count(); }

}  // namespace ovir
