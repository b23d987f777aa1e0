// Softmax and LogSoftmax walk the same lines of a tensor.
#pragma once
#include "op/kit/elementwise_attrs.hpp"
#include "op/op.hpp"

namespace ovir::ops {

/// The attribute `axis` counts from the back where it is negative.
void infer_softmax(InferContext&);

/// Calls line(from, to, n, step) for every line along `axis`: n elements that lie `step` apart.
template <class T, class F>
void softmax_lines(EvalContext& c, F&& line) {
  const auto& from = c.in(0);
  auto& to = c.out(0);
  const auto axis = c.attrs<SoftmaxAttrs>().axis;
  if (from.size() == 0) return;
  const AxisView view(from.shape(), axis < 0 ? axis + from.rank() : axis);
  for (i64 n = 0; n < view.lines(); ++n) {
    const auto first = view.line(n);
    line(from.data<T>() + first, to.mutable_data<T>() + first, view.length, view.inner);
  }
}

/// What keeps exp from overflowing: y = exp(x - max) / Σ exp(x - max).
template <class T>
T line_max(const T* x, i64 n, i64 step) {
  T max = x[0];
  for (i64 i = 1; i < n; ++i) max = std::max(max, x[i * step]);
  return max;
}

inline constexpr auto kSoftmaxAttrs = attributes<SoftmaxAttrs, Attr<"axis", &SoftmaxAttrs::axis>>;

}  // namespace ovir::ops
