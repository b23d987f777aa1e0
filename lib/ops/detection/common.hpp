// What the operations of detection share.
#pragma once
#include "op/op.hpp"

namespace ovir::ops::detection {

template <class T>
struct Box {
  T x1 = 0, y1 = 0, x2 = 0, y2 = 0;
  T width() const { return x2 - x1; }
  T height() const { return y2 - y1; }
};

/// PriorBox and PriorBoxClustered: a grid given as [height, width], an image likewise, [2, 4·height·width·priors] out.
void infer_priors(InferContext& c, std::int64_t priors_per_point, const std::vector<float>& variance);

/// The second row of their output: "variance could contain 0, 1, or 4 elements"; none means 0.1.
void fill_variances(Tensor& out, const std::vector<float>& variance);

}  // namespace ovir::ops::detection
