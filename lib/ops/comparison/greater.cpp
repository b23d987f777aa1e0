// Greater: a > b.
// Spec: operation-sets/operation-specs/comparison/greater-1
#include "ops/comparison/common.hpp"

namespace ovir::ops::greater {
namespace {

void eval(EvalContext& c) {
  eval_binary<Comparable>(c, [](auto a, auto b) { return a > b; });
}

constexpr Version kVersions[] = {
    comparison_version(1, eval),
};

}  // namespace

extern constinit const OpDef def{.type = "Greater", .spec = "comparison/greater", .versions = kVersions};

}  // namespace ovir::ops::greater
