// BitwiseAnd: the bits that are set in both.
// Spec: operation-sets/operation-specs/bitwise/bitwise-and-13
#include "ops/bitwise/common.hpp"

namespace ovir::ops::bitwise_and {
namespace {

void eval(EvalContext& c) {
  eval_binary<Bits>(c, []<class T>(T a, T b) { return static_cast<T>(a & b); });
}

constexpr Version kVersions[] = {
    bitwise_version(eval),
};

}  // namespace

extern constinit const OpDef def{.type = "BitwiseAnd", .spec = "bitwise/bitwise-and", .versions = kVersions};

}  // namespace ovir::ops::bitwise_and
