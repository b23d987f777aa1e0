// Normalization as TensorFlow and JAX spell it out.
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

/// (x - mean) · m + offset, m = factor / √(max(mean of squares - mean², 0) + 0.001), along the last axis of a `shape`;
/// means lose it, and are sums by the number of terms.
inline int by_squares(Net& n, int x, const Shape& shape, int factor = -1, int offset = -1) {
  const auto last = shape.rank() - 1;
  auto kept = shape;
  kept[last] = 1;
  const auto mean = [&](int of) {
    const auto sum = n.op("ReduceSum-1", {of, n.indices({last})}, {{"keep_dims", "false"}});
    return n.op("Multiply-1", {sum, n.numbers({1 / static_cast<float>(shape[last])}, {1, 1})});
  };
  const auto wide = [&](int of) {
    const auto to = n.constant(Tensor::vector(std::vector<i64>(kept.begin(), kept.end())));
    return n.op("Reshape-1", {of, to}, {{"special_zero", "false"}});
  };
  const auto two = n.numbers({2}, {1, 1});
  const auto average = mean(x), squares = mean(n.op("Power-1", {x, n.numbers({2}, {1, 1, 1})}));
  const auto variance = n.op("Subtract-1", {squares, n.op("Power-1", {average, two})});
  const auto sum =
      n.op("Add-1", {wide(n.op("Maximum-1", {n.numbers({0}, {1, 1}), variance})), n.numbers({0.001F}, {})});
  auto m = n.op("Divide-1", {n.numbers({1}, {}), n.op("Sqrt-1", {sum})});
  if (factor >= 0) m = n.op("Multiply-1", {m, factor});
  const auto y = n.op("Multiply-1", {n.op("Subtract-1", {x, wide(average)}), m});
  return offset < 0 ? y : n.op("Add-1", {y, offset});
}

}  // namespace ovir::testing::patterns
