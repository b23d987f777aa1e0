// Atanh: the inverse hyperbolic tangent.
// Spec: operation-sets/operation-specs/arithmetic/atanh-3
#include "op/kit/elementwise.hpp"

namespace ovir::ops::atanh {
namespace {

/// Integers outside -1..1 give the least and the greatest number, as -1 and 1 do.
void eval(EvalContext& c) {
  const bool integer = contains(kInteger, c.in(0).type());
  eval_real(c, [integer]<class T>(T x) { return std::atanh(integer ? std::clamp<T>(x, -1, 1) : x); });
}

constexpr Version kVersions[] = {
    {.since = 4,
     .spec = "arithmetic/atanh-3",
     .inputs = kNumericInput,
     .outputs = kNumericOutput,
     .infer = infer_unary,
     .eval = eval,
     .error = ErrorBound::elementwise},
};

}  // namespace

extern constinit const OpDef def{.type = "Atanh", .spec = "arithmetic/atanh", .versions = kVersions};

}  // namespace ovir::ops::atanh
