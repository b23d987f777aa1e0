// Softmax: exp(x) over the sum of exp along an axis.
// Spec: operation-sets/operation-specs/activation/softmax-8 and softmax-1
#include "op/kit/elementwise.hpp"
#include "ops/activation/common.hpp"

namespace ovir::ops::softmax {
namespace {

/// Version 1: "Range of values: positive integer value".
void infer_1(InferContext& c) {
  c.require_attr(c.attrs<SoftmaxAttrs>().axis >= 0, "axis", "must not be negative, but is {}",
                 c.attrs<SoftmaxAttrs>().axis);
  infer_softmax(c);
}

void eval(EvalContext& c) {
  dispatch(c.in(0).type(), Floats{}, [&]<class T>() {
    softmax_lines<T>(c, [](const T* x, T* y, i64 n, i64 step) {
      const T max = line_max(x, n, step);
      double sum = 0;  // in f64: no rounding error to speak of, whatever n is
      for (i64 i = 0; i < n; ++i) sum += static_cast<double>(y[i * step] = std::exp(x[i * step] - max));
      for (i64 i = 0; i < n; ++i) y[i * step] = static_cast<T>(static_cast<double>(y[i * step]) / sum);
    });
  });
}

constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = kFloatInput,
     .outputs = kFloatOutput,
     .attrs = kSoftmaxAttrs,
     .infer = infer_1,
     .eval = eval},
    {.since = 8,
     .inputs = kFloatInput,
     .outputs = kFloatOutput,
     .attrs = kSoftmaxAttrs,
     .infer = infer_softmax,
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "Softmax", .spec = "activation/softmax", .versions = kVersions};

}  // namespace ovir::ops::softmax
