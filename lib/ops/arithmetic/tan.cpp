// Tan: tangent of an angle in radians.
// Spec: operation-sets/operation-specs/arithmetic/tan-1
#include "op/kit/elementwise.hpp"

namespace ovir::ops::tan {
namespace {

void eval(EvalContext& c) {
  eval_real(c, []<class T>(T x) { return std::tan(x); });
}

constexpr Version kVersions[] = {
    unary_version(1, eval),
};

}  // namespace

extern constinit const OpDef def{.type = "Tan", .spec = "arithmetic/tan", .versions = kVersions};

}  // namespace ovir::ops::tan
