// GreaterEqual: a >= b.
// Spec: operation-sets/operation-specs/comparison/greater-equal-1
#include "ops/comparison/common.hpp"

namespace ovir::ops::greater_equal {
namespace {

void eval(EvalContext& c) {
  eval_binary<Comparable>(c, [](auto a, auto b) { return a >= b; });
}

constexpr Version kVersions[] = {
    comparison_version(1, eval),
};

}  // namespace

extern constinit const OpDef def{.type = "GreaterEqual", .spec = "comparison/greater-equal", .versions = kVersions};

}  // namespace ovir::ops::greater_equal
