// Normalization as TensorFlow spells it out, tf.nn.moments and tf.nn.batch_normalization, and as JAX does, by the mean
// of squares.
#pragma once
#include <optional>
#include <vector>

#include "plan/pattern.hpp"

namespace ovir::fast {

/// x · m + (offset - mean(x) · m), m = factor / √(mean((x - mean(x))²) + ε), where each mean keeps its axes.
struct MomentsNormalization {
  std::vector<int> nodes;  ///< in topological order; the last one gives the result
  ValueRef x;
  std::vector<i64> axes;  ///< of the means, in order
  float epsilon;
  ValueRef factor{-1, 0}, offset{-1, 0};  ///< constants; node < 0: none
};

/// From the mean of x, an f32 value, on.
std::optional<MomentsNormalization> normalization_by_moments(const Graphlet& graph, int mean);
/// The same of (x - mean(x)) · (factor / √(max(mean(x²) - mean(x)², 0) + ε)) + offset.
std::optional<MomentsNormalization> normalization_by_squares(const Graphlet& graph, int mean);

}  // namespace ovir::fast
