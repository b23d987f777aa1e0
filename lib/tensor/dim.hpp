// A dimension that may be known, bounded or unknown, and a shape made of them.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/shape.hpp"

namespace ovir {

/// A closed interval of lengths. `symbol` (0 = none) names an unknown length: two dims with the same symbol are equal
/// in every run.
struct Dim {
  static constexpr i64 kUnbounded = std::numeric_limits<i64>::max();
  i64 min = 0, max = kUnbounded;
  std::uint32_t symbol = 0;

  constexpr Dim() = default;
  constexpr Dim(i64 n) : min(n), max(n) {}  // NOLINT: a number is a dim
  constexpr Dim(i64 lo, i64 hi, std::uint32_t s = 0) : min(lo), max(hi), symbol(s) {}

  constexpr bool is_static() const { return min == max; }
  constexpr bool is_bounded() const { return max != kUnbounded; }
  constexpr i64 length() const { return min; }  ///< of a static dim
  constexpr bool contains(i64 n) const { return min <= n && n <= max; }
  /// Some length is possible for both.
  constexpr bool compatible(const Dim& o) const { return min <= o.max && o.min <= max; }
  /// Intervals only: symbols are knowledge beside the interval.
  constexpr bool operator==(const Dim& o) const { return min == o.min && max == o.max; }
};

// Interval arithmetic on lengths; results are clamped to [0, unbounded].
Dim operator+(Dim, Dim);
Dim operator-(Dim, Dim);
Dim operator*(Dim, Dim);
Dim div_floor(Dim, i64);
Dim div_ceil(Dim, i64);
/// What both say; nothing where they contradict. Keeps a symbol of either.
[[nodiscard]] std::optional<Dim> intersect(const Dim&, const Dim&);
/// The least interval that holds both; the symbol stays where both have it.
[[nodiscard]] Dim hull(const Dim&, const Dim&);
/// Numpy broadcasting of two lengths; nothing where they cannot be broadcast.
[[nodiscard]] std::optional<Dim> broadcast(const Dim&, const Dim&);

/// A shape whose rank or dims may be unknown.
class PartialShape {
 public:
  PartialShape() : ranked_(true) {}
  PartialShape(std::vector<Dim> dims) : dims_(std::move(dims)), ranked_(true) {}  // NOLINT
  PartialShape(std::initializer_list<Dim> dims) : dims_(dims), ranked_(true) {}
  PartialShape(const Shape& s) : dims_(s.begin(), s.end()), ranked_(true) {}  // NOLINT
  static PartialShape unknown_rank() {
    PartialShape s;
    s.ranked_ = false;
    return s;
  }
  static PartialShape of_rank(i64 rank) { return PartialShape(std::vector<Dim>(rank)); }

  bool has_rank() const { return ranked_; }
  i64 rank() const { return std::ssize(dims_); }
  bool is_static() const;
  /// The lengths of a static shape.
  Shape to_shape() const;

  const Dim& operator[](i64 i) const { return dims_[i]; }
  Dim& operator[](i64 i) { return dims_[i]; }
  /// The dim of an axis, counted from the end where it is negative; unknown where the rank is.
  Dim dim(i64 axis) const { return ranked_ ? (*this)[axis < 0 ? axis + rank() : axis] : Dim(); }
  const std::vector<Dim>& dims() const { return dims_; }
  std::vector<Dim>& dims() { return dims_; }
  auto begin() const { return dims_.begin(); }
  auto end() const { return dims_.end(); }
  void push_back(Dim d) { dims_.push_back(d); }

  /// The number of elements as an interval ([0, unbounded] for an unknown rank).
  Dim element_count() const;
  bool compatible(const PartialShape&) const;
  bool contains(const Shape&) const;
  bool operator==(const PartialShape&) const = default;

 private:
  std::vector<Dim> dims_;
  bool ranked_;
};

[[nodiscard]] std::optional<PartialShape> intersect(const PartialShape&, const PartialShape&);
/// The most precise shape that holds both (unknown rank where the ranks differ).
[[nodiscard]] PartialShape hull(const PartialShape&, const PartialShape&);
/// Numpy broadcasting: aligned at the last axis. Nothing where it is impossible.
[[nodiscard]] std::optional<PartialShape> broadcast(const PartialShape&, const PartialShape&);

/// "3", "?", "1..8", "2..".
std::string to_string(const Dim&);
/// "[1,?,3..5]"; "[...]" for an unknown rank.
std::string to_string(const PartialShape&);
/// "1,?,64", or "..." for an unknown rank: as attributes spell it.
std::string attribute_text(const PartialShape&);
/// Reads "[1,?,3..5]" or "1,-1,3..5" or "[...]"; nothing where the text is not a shape.
std::optional<PartialShape> parse_shape(std::string_view);
/// What is wrong with a text that is not a shape: "-3 is negative".
std::string why_no_shape(std::string_view);

}  // namespace ovir
