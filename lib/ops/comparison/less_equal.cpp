// LessEqual: a <= b.
// Spec: operation-sets/operation-specs/comparison/lessequal-1
#include "ops/comparison/common.hpp"

namespace ovir::ops::less_equal {
namespace {

void eval(EvalContext& c) {
  eval_binary<Comparable>(c, [](auto a, auto b) { return a <= b; });
}

constexpr Version kVersions[] = {
    comparison_version(1, eval),
};

}  // namespace

extern constinit const OpDef def{.type = "LessEqual", .spec = "comparison/lessequal", .versions = kVersions};

}  // namespace ovir::ops::less_equal
