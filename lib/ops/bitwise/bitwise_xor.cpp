// BitwiseXor: the bits that are set in exactly one.
// Spec: operation-sets/operation-specs/bitwise/bitwise-xor-13
#include "ops/bitwise/common.hpp"

namespace ovir::ops::bitwise_xor {
namespace {

void eval(EvalContext& c) {
  eval_binary<Bits>(c, []<class T>(T a, T b) { return static_cast<T>(a ^ b); });
}

constexpr Version kVersions[] = {
    bitwise_version(eval),
};

}  // namespace

extern constinit const OpDef def{.type = "BitwiseXor", .spec = "bitwise/bitwise-xor", .versions = kVersions};

}  // namespace ovir::ops::bitwise_xor
