// Tail: what commonly follows a convolution or product, and is computed with it: a bias, then a lower and upper bound
// (Relu, Clamp).
#pragma once
#include <limits>
#include <vector>

#include "plan/pattern.hpp"

namespace ovir::fast {

struct Tail {
  std::vector<float> bias;  ///< by channel; empty: none
  float low = -std::numeric_limits<float>::infinity(), high = std::numeric_limits<float>::infinity();
  std::string name;  ///< "+bias+relu"

  bool is_bounded() const {
    return low != -std::numeric_limits<float>::infinity() || high != std::numeric_limits<float>::infinity();
  }
  /// NaN stays NaN.
  float bounded(float v) const {
    const float above = v < low ? low : v;
    return above > high ? high : above;
  }
  /// y[i] = clamp(x[i] + bias[channel]) for n values of one channel; y may be x.
  void apply(i64 channel, const float* x, float* y, i64 n) const;
  /// The same in place for one value of each channel.
  void apply_row(float* y, i64 channels) const;
};

/// Follows the only users of `node` as far as they are such, and adds them to `nodes`. `axis` of the node's output, of
/// rank `rank`, are the channels, `channels` of them; a bias has one number a channel and 1 along the other axes.
Tail take_tail(const Graphlet& graph, std::vector<int>& nodes, i64 rank, i64 axis, i64 channels);

/// A convolution in f32 of data of rank 3 to `max_rank`, with its data and filters as operands and the tail that
/// follows it; without a kernel yet. Nothing for any other.
std::optional<Match> match_convolution(const Graphlet& graph, int root, i64 max_rank, Tail& tail);

}  // namespace ovir::fast
