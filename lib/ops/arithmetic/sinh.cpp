// Sinh: hyperbolic sine.
// Spec: operation-sets/operation-specs/arithmetic/sinh-1
#include "op/kit/elementwise.hpp"

namespace ovir::ops::sinh {
namespace {

void eval(EvalContext& c) {
  eval_real(c, []<class T>(T x) { return std::sinh(x); });
}

constexpr Version kVersions[] = {
    unary_version(1, eval),
};

}  // namespace

extern constinit const OpDef def{.type = "Sinh", .spec = "arithmetic/sinh", .versions = kVersions};

}  // namespace ovir::ops::sinh
