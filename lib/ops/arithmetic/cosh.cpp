// Cosh: hyperbolic cosine.
// Spec: operation-sets/operation-specs/arithmetic/cosh-1
#include "op/kit/elementwise.hpp"

namespace ovir::ops::cosh {
namespace {

void eval(EvalContext& c) {
  eval_real(c, []<class T>(T x) { return std::cosh(x); });
}

constexpr Version kVersions[] = {
    unary_version(1, eval),
};

}  // namespace

extern constinit const OpDef def{.type = "Cosh", .spec = "arithmetic/cosh", .versions = kVersions};

}  // namespace ovir::ops::cosh
