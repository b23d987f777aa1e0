// BitwiseRightShift: a >> b; the sign of a signed integer is kept.
// Spec: operation-sets/operation-specs/bitwise/bitwise-right-shift-15
#include "ops/bitwise/common.hpp"

namespace ovir::ops::bitwise_right_shift {
namespace {

void eval(EvalContext& c) {
  // "If the number of shifts is negative, or if it equals or exceeds the total number of bits in the type T, the
  // behavior can be undefined": here only the sign is left.
  eval_binary<Integers>(
      c, []<class T>(T a, T b) { return static_cast<T>(wide(b) < sizeof(T) * 8 ? a >> b : T(a < 0 ? -1 : 0)); });
}

constexpr Version kVersions[] = {
    shift_version(eval),
};

}  // namespace

extern constinit const OpDef def{
    .type = "BitwiseRightShift", .spec = "bitwise/bitwise-right-shift", .versions = kVersions};

}  // namespace ovir::ops::bitwise_right_shift
