// BitwiseLeftShift: a << b.
// Spec: operation-sets/operation-specs/bitwise/bitwise-left-shift-15
#include "ops/bitwise/common.hpp"

namespace ovir::ops::bitwise_left_shift {
namespace {

void eval(EvalContext& c) {
  const auto used = used_bits(c.stored(0).type());
  // "If the number of shifts is negative, or if it equals or exceeds the total number of bits in the type T, the
  // behavior can be undefined": here nothing is left.
  eval_binary<Integers>(c, [used]<class T>(T a, T b) {
    return static_cast<T>(wide(b) < sizeof(T) * 8 ? (wide(a) << wide(b)) & used : 0);
  });
}

constexpr Version kVersions[] = {
    shift_version(eval),
};

}  // namespace

extern constinit const OpDef def{
    .type = "BitwiseLeftShift", .spec = "bitwise/bitwise-left-shift", .versions = kVersions};

}  // namespace ovir::ops::bitwise_left_shift
