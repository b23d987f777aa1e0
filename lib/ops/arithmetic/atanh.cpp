// Atanh: the inverse hyperbolic tangent.
// Spec: operation-sets/operation-specs/arithmetic/atanh-3
#include "op/kit/elementwise.hpp"

namespace ovir::ops::atanh {
namespace {

void eval(EvalContext& c) {
  eval_real(c, []<class T>(T x) { return std::atanh(x); });
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
