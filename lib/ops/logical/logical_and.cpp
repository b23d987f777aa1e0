// LogicalAnd: true where both are.
// Spec: operation-sets/operation-specs/logical/logical-and-1
#include "op/kit/elementwise.hpp"

namespace ovir::ops::logical_and {
namespace {

void eval(EvalContext& c) {
  eval_binary<Boolean>(c, [](auto a, auto b) { return a != 0 && b != 0; });
}

constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = kBooleanPair,
     .outputs = kBooleanOutput,
     .attrs = kBroadcastAttrs,
     .infer = infer_binary,
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "LogicalAnd", .spec = "logical/logical-and", .versions = kVersions};

}  // namespace ovir::ops::logical_and
