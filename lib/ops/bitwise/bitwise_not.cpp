// BitwiseNot: every bit inverted; of a boolean its negation.
// Spec: operation-sets/operation-specs/bitwise/bitwise-not-13
#include "ops/bitwise/common.hpp"

namespace ovir::ops::bitwise_not {
namespace {

void eval(EvalContext& c) {
  if (c.in(0).type() == ElementType::boolean) return eval_unary<Boolean>(c, [](auto x) { return x == 0; });
  const auto used = used_bits(c.stored(0).type());
  eval_unary<Integers>(c, [used]<class T>(T x) { return static_cast<T>(~wide(x) & used); });
}

constexpr Version kVersions[] = {
    {.since = 13, .inputs = kBitsInput, .outputs = kBitsOutput, .infer = infer_unary, .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "BitwiseNot", .spec = "bitwise/bitwise-not", .versions = kVersions};

}  // namespace ovir::ops::bitwise_not
