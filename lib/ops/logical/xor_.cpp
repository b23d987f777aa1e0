// Xor: true where exactly one is; the older name of LogicalXor, in opset1 to opset3.
// Spec: operation-sets/operation-specs/logical/logical-xor-1
#include "op/kit/elementwise.hpp"

namespace ovir::ops::xor_ {
namespace {

void eval(EvalContext& c) {
  eval_binary<Boolean>(c, [](auto a, auto b) { return (a != 0) != (b != 0); });
}

constexpr Version kVersions[] = {
    {.since = 1,
     .until = 3,
     .inputs = kBooleanPair,
     .outputs = kBooleanOutput,
     .attrs = kBroadcastAttrs,
     .infer = infer_binary,
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "Xor", .spec = "logical/logical-xor", .versions = kVersions};

}  // namespace ovir::ops::xor_
