// IsInf: true where x is infinite, of the signs that are asked for.
// Spec: operation-sets/operation-specs/comparison/isinf-10
#include "ops/comparison/common.hpp"

namespace ovir::ops::is_inf {
namespace {

void eval(EvalContext& c) {
  const auto& a = c.attrs<IsInfAttrs>();
  eval_unary<Floats>(c, [a](auto x) { return std::isinf(x) && (x < 0 ? a.detect_negative : a.detect_positive); });
}

constexpr auto kAttrs = attributes<IsInfAttrs, Attr<"detect_negative", &IsInfAttrs::detect_negative>,
                                   Attr<"detect_positive", &IsInfAttrs::detect_positive>>;

constexpr Version kVersions[] = {
    {.since = 10,
     .inputs = kTestedInput,
     .outputs = kBooleanOutput,
     .attrs = kAttrs,
     .infer = infer_unary,
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "IsInf", .spec = "comparison/isinf", .versions = kVersions};

}  // namespace ovir::ops::is_inf
