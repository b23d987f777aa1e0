// Acos: the angle in [0, π] whose cosine is x.
// Spec: operation-sets/operation-specs/arithmetic/acos-1
#include "op/kit/elementwise.hpp"

namespace ovir::ops::acos {
namespace {

void eval(EvalContext& c) {
  eval_real(c, []<class T>(T x) { return std::acos(x); });
}

constexpr Version kVersions[] = {
    unary_version(1, eval),
};

}  // namespace

extern constinit const OpDef def{.type = "Acos", .spec = "arithmetic/acos", .versions = kVersions};

}  // namespace ovir::ops::acos
