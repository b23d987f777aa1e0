// LogicalNot: true where the input is false.
// Spec: operation-sets/operation-specs/logical/logical-not-1
#include "op/kit/elementwise.hpp"

namespace ovir::ops::logical_not {
namespace {

void eval(EvalContext& c) {
  eval_unary<Boolean>(c, [](auto x) { return x == 0; });
}

constexpr PortDef kInput[] = {{"data", kBooleanT}};

constexpr Version kVersions[] = {
    {.since = 1, .inputs = kInput, .outputs = kBooleanOutput, .infer = infer_unary, .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "LogicalNot", .spec = "logical/logical-not", .versions = kVersions};

}  // namespace ovir::ops::logical_not
