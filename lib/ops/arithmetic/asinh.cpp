// Asinh: the inverse hyperbolic sine.
// Spec: operation-sets/operation-specs/arithmetic/asinh-3
#include "op/kit/elementwise.hpp"

namespace ovir::ops::asinh {
namespace {

void eval(EvalContext& c) {
  eval_real(c, []<class T>(T x) { return std::asinh(x); });
}

constexpr Version kVersions[] = {
    {.since = 4,
     .spec = "arithmetic/asinh-3",
     .inputs = kNumericInput,
     .outputs = kNumericOutput,
     .infer = infer_unary,
     .eval = eval,
     .error = ErrorBound::elementwise},
};

}  // namespace

extern constinit const OpDef def{.type = "Asinh", .spec = "arithmetic/asinh", .versions = kVersions};

}  // namespace ovir::ops::asinh
