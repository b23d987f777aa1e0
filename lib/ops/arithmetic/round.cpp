// Round: the nearest integer; mode says where halves go.
// Spec: operation-sets/operation-specs/arithmetic/round-5
#include "op/kit/elementwise.hpp"

namespace ovir::ops::round {
namespace {

void eval(EvalContext& c) {
  const bool even = c.attrs<RoundAttrs>().mode == RoundMode::half_to_even;
  eval_unary<Numbers>(c, [even]<class T>(T x) {
    if constexpr (std::is_integral_v<T>) return x;
    else return even ? std::nearbyint(x) : std::round(x);
  });
}

constexpr auto kAttrs = attributes<RoundAttrs, Attr<"mode", &RoundAttrs::mode>>;

constexpr Version kVersions[] = {
    {.since = 5,
     .inputs = kNumericInput,
     .outputs = kNumericOutput,
     .attrs = kAttrs,
     .infer = infer_unary,
     .eval = eval,
     .error = ErrorBound::elementwise},
};

}  // namespace

extern constinit const OpDef def{.type = "Round", .spec = "arithmetic/round", .versions = kVersions};

}  // namespace ovir::ops::round
