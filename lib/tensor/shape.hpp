// Shape: the lengths of a tensor's axes. Up to eight axes are held without an allocation.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/int.hpp"

namespace ovir {

/// As many axes as NumPy 2 takes. A constant of a few kilobytes could ask for any number.
inline constexpr i64 kMaxRank = 64;

/// A list of i64 with a signed index: lengths, and also strides, offsets or orders of axes. Otherwise as a std::vector,
/// except that a shape that was moved from may still hold its values.
class Shape {
 public:
  using value_type = i64;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = i64&;
  using const_reference = const i64&;
  using iterator = i64*;
  using const_iterator = const i64*;
  static constexpr int kInline = 8;  ///< axes that need no allocation

  Shape() = default;
  Shape(std::initializer_list<i64> values) : Shape(values.begin(), values.end()) {}
  /// `rank` axes of length `value`.
  explicit Shape(i64 rank, i64 value = 0) { resize(rank, value); }
  template <std::input_iterator I>
  Shape(I first, I last) {
    append(first, last);
  }
  Shape(std::span<const i64> values) : Shape(values.begin(), values.end()) {}     // NOLINT: a list is a shape
  Shape(const std::vector<i64>& values) : Shape(values.begin(), values.end()) {}  // NOLINT

  i64 rank() const { return many_.empty() ? few_size_ : std::ssize(many_); }
  std::size_t size() const { return rank(); }
  bool empty() const { return rank() == 0; }
  /// The number of elements: the product of the lengths. Throws Failure (E0003) where it does not fit 64 bits, or where
  /// there are more than kMaxRank axes.
  i64 count() const;

  i64 operator[](i64 axis) const { return data()[axis]; }
  i64& operator[](i64 axis) { return data()[axis]; }
  const i64* data() const { return many_.empty() ? few_.data() : many_.data(); }
  i64* data() { return many_.empty() ? few_.data() : many_.data(); }
  const i64* begin() const { return data(); }
  const i64* end() const { return data() + rank(); }
  i64* begin() { return data(); }
  i64* end() { return data() + rank(); }
  i64 front() const { return *begin(); }
  i64 back() const { return *(end() - 1); }
  i64& front() { return *begin(); }
  i64& back() { return *(end() - 1); }

  void push_back(i64 value);
  void pop_back() { resize(rank() - 1); }
  void clear() { resize(0); }
  /// New axes get the length `value`.
  void resize(i64 rank, i64 value = 0);
  i64* insert(const i64* before, i64 value) { return insert(before, &value, &value + 1); }
  i64* insert(const i64* before, i64 count, i64 value) { return insert(before, Shape(count, value)); }
  i64* insert(const i64* before, const Shape& values) { return insert(before, values.begin(), values.end()); }
  i64* insert(const i64* before, std::initializer_list<i64> values) {
    return insert(before, values.begin(), values.end());
  }
  /// [first, last) may lie in the shape itself.
  template <std::input_iterator I>
  i64* insert(const i64* before, I first, I last) {
    const auto position = before - begin();
    Shape result(begin(), begin() + position);
    result.append(first, last);
    result.append(begin() + position, end());
    *this = std::move(result);
    return begin() + position;
  }
  i64* erase(const i64* at) { return erase(at, at + 1); }
  i64* erase(const i64* first, const i64* last);

  bool operator==(const Shape& o) const { return std::equal(begin(), end(), o.begin(), o.end()); }

 private:
  template <class I>
  void append(I first, I last) {
    for (; first != last; ++first) push_back(static_cast<i64>(*first));
  }

  // `many_` holds all axes unless it is empty; so the copies and moves that the compiler makes are right.
  std::array<i64, kInline> few_{};
  int few_size_ = 0;
  std::vector<i64> many_;
};

/// Row-major strides in elements.
Shape strides_of(const Shape&);
/// "[1,2,3]".
std::string to_string(const Shape&);

}  // namespace ovir
