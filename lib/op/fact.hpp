// Fact: what is known of a value before it is computed.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "tensor/dim.hpp"
#include "tensor/tensor.hpp"

namespace ovir {

/// An element's possible values. `symbol` as in Dim: elements with one symbol are equal in every run.
struct Interval {
  double lo = -std::numeric_limits<double>::infinity();
  double hi = std::numeric_limits<double>::infinity();
  std::uint32_t symbol = 0;
  bool is_known() const { return lo == hi; }
  /// As a length: cut to [0, unbounded].
  Dim to_dim() const;
};
Interval to_interval(const Dim&);

struct Fact {
  ElementType type = ElementType::dynamic;
  PartialShape shape = PartialShape::unknown_rank();
  Tensor value;                                         ///< where it is known exactly (constants of any size)
  std::shared_ptr<const std::vector<Interval>> bounds;  ///< else, for small tensors of static shape, perhaps this
};

static_assert(std::is_nothrow_move_constructible_v<Fact>);

/// What holds of a value that is either the one or the other. Types that differ give `dynamic`.
Fact merge(const Fact& a, const Fact& b);
/// Both say the same, symbols included.
bool same(const Fact& a, const Fact& b);

/// Values are propagated for tensors of up to this many elements.
inline constexpr i64 kMaxPropagated = 1024;

}  // namespace ovir
