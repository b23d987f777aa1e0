// NotEqual: a != b; NaN differs from everything.
// Spec: operation-sets/operation-specs/comparison/notequal-1
#include "ops/comparison/common.hpp"

namespace ovir::ops::not_equal {
namespace {

void eval(EvalContext& c) {
  eval_binary<Comparable>(c, [](auto a, auto b) { return a != b; });
}

constexpr Version kVersions[] = {
    comparison_version(1, eval),
};

}  // namespace

extern constinit const OpDef def{.type = "NotEqual", .spec = "comparison/notequal", .versions = kVersions};

}  // namespace ovir::ops::not_equal
