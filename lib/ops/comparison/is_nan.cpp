// IsNaN: true where x is NaN.
// Spec: operation-sets/operation-specs/comparison/isnan-10
#include "ops/comparison/common.hpp"

namespace ovir::ops::is_nan {
namespace {

void eval(EvalContext& c) {
  eval_unary<Floats>(c, [](auto x) { return std::isnan(x); });
}

constexpr Version kVersions[] = {
    {.since = 10, .inputs = kTestedInput, .outputs = kBooleanOutput, .infer = infer_unary, .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "IsNaN", .spec = "comparison/isnan", .versions = kVersions};

}  // namespace ovir::ops::is_nan
