// BitwiseOr: the bits that are set in one or both.
// Spec: operation-sets/operation-specs/bitwise/bitwise-or-13
#include "ops/bitwise/common.hpp"

namespace ovir::ops::bitwise_or {
namespace {

void eval(EvalContext& c) {
  eval_binary<Bits>(c, []<class T>(T a, T b) { return static_cast<T>(a | b); });
}

constexpr Version kVersions[] = {
    bitwise_version(eval),
};

}  // namespace

extern constinit const OpDef def{.type = "BitwiseOr", .spec = "bitwise/bitwise-or", .versions = kVersions};

}  // namespace ovir::ops::bitwise_or
