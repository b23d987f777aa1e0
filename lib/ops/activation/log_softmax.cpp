// LogSoftmax: t - log Σ exp(t) along an axis, where t = x - max(x).
// Spec: operation-sets/operation-specs/activation/log-soft-max-5
#include "op/kit/elementwise.hpp"
#include "ops/activation/common.hpp"

namespace ovir::ops::log_softmax {
namespace {

void eval(EvalContext& c) {
  dispatch(c.in(0).type(), Floats{}, [&]<class T>() {
    softmax_lines<T>(c, [](const T* x, T* y, i64 n, i64 step) {
      const T max = line_max(x, n, step);
      double sum = 0;  // in f64: no rounding error to speak of, whatever n is
      for (i64 i = 0; i < n; ++i) sum += static_cast<double>(std::exp(x[i * step] - max));
      const T log_sum = static_cast<T>(std::log(sum));
      for (i64 i = 0; i < n; ++i) y[i * step] = x[i * step] - max - log_sum;
    });
  });
}

constexpr Version kVersions[] = {
    {.since = 5,
     .inputs = kFloatInput,
     .outputs = kFloatOutput,
     .attrs = kSoftmaxAttrs,
     .infer = infer_softmax,
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "LogSoftmax", .spec = "activation/log-soft-max", .versions = kVersions};

}  // namespace ovir::ops::log_softmax
