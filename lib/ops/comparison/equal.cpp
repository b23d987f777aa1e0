// Equal: a == b; NaN equals nothing.
// Spec: operation-sets/operation-specs/comparison/equal-1
#include "ops/comparison/common.hpp"

namespace ovir::ops::equal {
namespace {

void eval(EvalContext& c) {
  eval_binary<Comparable>(c, [](auto a, auto b) { return a == b; });
}

constexpr Version kVersions[] = {
    comparison_version(1, eval),
};

}  // namespace

extern constinit const OpDef def{.type = "Equal", .spec = "comparison/equal", .versions = kVersions};

}  // namespace ovir::ops::equal
