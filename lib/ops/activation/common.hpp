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
  const auto axis =
      static_cast<std::size_t>(c.attrs<SoftmaxAttrs>().axis + (c.attrs<SoftmaxAttrs>().axis < 0 ? from.rank() : 0));
  if (from.size() == 0) return;
  const auto n = from.shape()[axis], step = strides_of(from.shape())[axis];
  for (std::int64_t outer = 0; outer < from.size(); outer += n * step)
    for (std::int64_t inner = outer; inner < outer + step; ++inner)
      line(from.data<T>() + inner, to.mutable_data<T>() + inner, n, step);
}

/// What keeps exp from overflowing: y = exp(x - max) / Σ exp(x - max).
template <class T>
T greatest(const T* x, std::int64_t n, std::int64_t step) {
  T most = x[0];
  for (std::int64_t i = 1; i < n; ++i) most = std::max(most, x[i * step]);
  return most;
}

inline constexpr auto kSoftmaxAttrs = attributes<SoftmaxAttrs, Attr<"axis", &SoftmaxAttrs::axis>>;

}  // namespace ovir::ops
