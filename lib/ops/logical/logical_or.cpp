// LogicalOr: true where one or both are.
// Spec: operation-sets/operation-specs/logical/logical-or-1
#include "op/kit/elementwise.hpp"

namespace ovir::ops::logical_or {
namespace {

void eval(EvalContext& c) {
  eval_binary<Boolean>(c, [](auto a, auto b) { return a != 0 || b != 0; });
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

extern constinit const OpDef def{.type = "LogicalOr", .spec = "logical/logical-or", .versions = kVersions};

}  // namespace ovir::ops::logical_or
