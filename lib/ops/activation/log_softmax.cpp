// LogSoftmax: t - log Σ exp(t) along an axis, where t = x - max(x).
// Spec: operation-sets/operation-specs/activation/log-soft-max-5
#include "op/kit/elementwise.hpp"
#include "ops/activation/common.hpp"

namespace ovir::ops::log_softmax {
namespace {

void eval(EvalContext& c) {
  dispatch(c.in(0).type(), Reals{}, [&]<class T>() {
    softmax_lines<T>(c, [](const T* x, T* y, std::int64_t n, std::int64_t step) {
      const T most = greatest(x, n, step);
      double sum = 0;  // in f64: no rounding error to speak of, whatever n is
      for (std::int64_t i = 0; i < n; ++i) sum += static_cast<double>(std::exp(x[i * step] - most));
      const T log_sum = static_cast<T>(std::log(sum));
      for (std::int64_t i = 0; i < n; ++i) y[i * step] = x[i * step] - most - log_sum;
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
