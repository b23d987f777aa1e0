// IsFinite: true where x is neither infinite nor NaN.
// Spec: operation-sets/operation-specs/comparison/isfinite-10
#include "ops/comparison/common.hpp"

namespace ovir::ops::is_finite {
namespace {

void eval(EvalContext& c) {
  eval_unary<Floats>(c, [](auto x) { return std::isfinite(x); });
}

constexpr Version kVersions[] = {
    {.since = 10, .inputs = kTestedInput, .outputs = kBooleanOutput, .infer = infer_unary, .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "IsFinite", .spec = "comparison/isfinite", .versions = kVersions};

}  // namespace ovir::ops::is_finite
