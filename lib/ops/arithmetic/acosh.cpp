// Acosh: the inverse hyperbolic cosine.
// Spec: operation-sets/operation-specs/arithmetic/acosh-3
#include "op/kit/elementwise.hpp"

namespace ovir::ops::acosh {
namespace {

void eval(EvalContext& c) {
  eval_real(c, []<class T>(T x) { return std::acosh(x); });
}

constexpr Version kVersions[] = {
    {.since = 4,
     .spec = "arithmetic/acosh-3",
     .inputs = kNumericInput,
     .outputs = kNumericOutput,
     .infer = infer_unary,
     .eval = eval,
     .error = ErrorBound::elementwise},
};

}  // namespace

extern constinit const OpDef def{.type = "Acosh", .spec = "arithmetic/acosh", .versions = kVersions};

}  // namespace ovir::ops::acosh
