// Erf: the error function, 2/√π · ∫ exp(-t²) dt from 0 to x.
// Spec: operation-sets/operation-specs/arithmetic/erf-1
#include "op/kit/elementwise.hpp"

namespace ovir::ops::erf {
namespace {

void eval(EvalContext& c) {
  eval_real(c, []<class T>(T x) { return std::erf(x); });
}

constexpr Version kVersions[] = {
    unary_version(1, eval),
};

}  // namespace

extern constinit const OpDef def{.type = "Erf", .spec = "arithmetic/erf", .versions = kVersions};

}  // namespace ovir::ops::erf
