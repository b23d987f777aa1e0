// Clamp: min(max(x, min), max).
// Spec: operation-sets/operation-specs/activation/clamp-1
#include "op/kit/elementwise.hpp"
#include "op/kit/saturate.hpp"

namespace ovir::ops::clamp {
namespace {

void infer(InferContext& c) {
  const auto& a = c.attrs<ClampAttrs>();
  c.require_attr(a.min <= a.max, "max", "must be min ({1}) or more, but is {0}", a.max, a.min);
  c.output(0, c.shape(0));
}

/// "In case of integral numeric type, ceil is used to convert min from float to T and floor is used to convert max."
template <class T>
T limit(double v) {
  if constexpr (std::is_integral_v<T>) return saturated<T>(v);
  else return static_cast<T>(v);
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<ClampAttrs>();
  dispatch(c.in(0).type(), Numbers{}, [&]<class T>() {
    constexpr bool whole = std::is_integral_v<T>;
    const T low = limit<T>(whole ? std::ceil(a.min) : a.min), high = limit<T>(whole ? std::floor(a.max) : a.max);
    const auto& from = c.in(0);
    const T* x = from.data<T>();
    T* y = c.out(0).mutable_data<T>();
    for (i64 i = 0; i < from.size(); ++i) {
      if (x[i] < low) y[i] = low;
      else y[i] = x[i] > high ? high : x[i];  // NaN stays
    }
  });
}

constexpr auto kAttrs =
    attributes<ClampAttrs, Attr<"min", &ClampAttrs::min, kRequired>, Attr<"max", &ClampAttrs::max, kRequired>>;

constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = kNumericInput,
     .outputs = kNumericOutput,
     .attrs = kAttrs,
     .infer = infer,
     .eval = eval,
     .error = ErrorBound::elementwise},
};

}  // namespace

extern constinit const OpDef def{.type = "Clamp", .spec = "activation/clamp", .versions = kVersions};

}  // namespace ovir::ops::clamp
