// Sin: sine of an angle in radians.
// Spec: operation-sets/operation-specs/arithmetic/sin-1
#include "op/kit/elementwise.hpp"

namespace ovir::ops::sin {
namespace {

void eval(EvalContext& c) {
  eval_real(c, []<class T>(T x) { return std::sin(x); });
}

constexpr Version kVersions[] = {
    unary_version(1, eval),
};

}  // namespace

extern constinit const OpDef def{.type = "Sin", .spec = "arithmetic/sin", .versions = kVersions};

}  // namespace ovir::ops::sin
