// Normalization as TensorFlow spells it out.
#pragma once
#include "pattern_examples.hpp"

namespace ovir::testing::patterns {

/// x · m + (offset - mean · m), m = factor / √(variance + 0.001); `factor`, `offset`: nodes, -1: none.
inline int by_moments(Net& n, int x, std::initializer_list<i64> over, int factor = -1, int offset = -1) {
  const Texts kept{{"keep_dims", "true"}};
  const auto axes = n.indices(over);
  const auto mean = n.op("ReduceMean-1", {x, axes}, kept);
  const auto variance = n.op("ReduceMean-1", {n.op("SquaredDifference-1", {x, mean}), axes}, kept);
  auto m = n.op("Power-1", {n.op("Add-1", {variance, n.numbers({0.001F}, {1})}), n.numbers({-0.5F}, {1})});
  if (factor >= 0) m = n.op("Multiply-1", {m, factor});
  auto shift = n.op("Multiply-1", {n.op("Multiply-1", {mean, n.numbers({-1}, {1})}), m});
  if (offset >= 0) shift = n.op("Add-1", {shift, offset});
  return n.op("Add-1", {n.op("Multiply-1", {x, m}), shift});
}

}  // namespace ovir::testing::patterns
