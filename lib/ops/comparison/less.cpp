// Less: a < b.
// Spec: operation-sets/operation-specs/comparison/less-1
#include "ops/comparison/common.hpp"

namespace ovir::ops::less {
namespace {

void eval(EvalContext& c) {
  eval_binary<Comparable>(c, [](auto a, auto b) { return a < b; });
}

constexpr Version kVersions[] = {
    comparison_version(1, eval),
};

}  // namespace

extern constinit const OpDef def{.type = "Less", .spec = "comparison/less", .versions = kVersions};

}  // namespace ovir::ops::less
