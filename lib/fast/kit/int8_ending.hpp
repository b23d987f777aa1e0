// What follows a convolution of levels by integers.
#pragma once
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "fast/kernels/convolution/shape.hpp"
#include "fast/kit/levels.hpp"

namespace ovir::fast {

struct Bounds {
  float low = -std::numeric_limits<float>::infinity(), high = std::numeric_limits<float>::infinity();
  friend bool operator==(const Bounds&, const Bounds&) = default;
};

/// What follows the sums: bias, bounds or another activation, a normalization left as it was (· factor + offset),
/// FakeQuantize; then another summand, bounds or another activation, FakeQuantize. Or bias, bounds, MaxPool,
/// FakeQuantize: the maximum is then that of levels.
struct U8Ending {
  const Tensor* bias = nullptr;
  Bounds bounds, sum_bounds;
  Unary activation{}, sum_activation{};                   ///< with one of them bounds of values are one, too
  const Tensor *slopes = nullptr, *sum_slopes = nullptr;  ///< of PRelu by channel
  std::vector<float> factors, offsets;                    ///< by channel; empty: none
  bool is_activated() const { return activation.f != Function::identity || sum_activation.f != Function::identity; }
  /// What is activated becomes levels as it is stored.
  bool activates_in_loops() const;
  bool adds = false;                                ///< operand 1
  std::optional<Levels> levels, other, sum_levels;  ///< `other` of operand 1, where it is not f32
  std::optional<ConvolutionShape> pool;
  std::string name;
  /// `bounds` behind the normalization of a channel, in `levels`, and `sum_bounds` in `sum_levels`; all of them end at
  /// level 0 and the last one.
  Bounds level_bounds(i64 channel) const;
  Bounds sum_level_bounds() const;
  const Levels* result() const { return sum_levels ? &*sum_levels : (levels && !adds ? &*levels : nullptr); }
};

/// Follows only users of the last of `match.nodes`; a summand becomes an operand of the match.
U8Ending take_u8_ending(const Graphlet& graph, Match& match, i64 rank, i64 channels, bool may_add);

}  // namespace ovir::fast
