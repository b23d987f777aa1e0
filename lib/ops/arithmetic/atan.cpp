// Atan: the angle in (-π/2, π/2) whose tangent is x.
// Spec: operation-sets/operation-specs/arithmetic/atan-1
#include "op/kit/elementwise.hpp"

namespace ovir::ops::atan {
namespace {

void eval(EvalContext& c) {
  eval_real(c, []<class T>(T x) { return std::atan(x); });
}

constexpr Version kVersions[] = {
    unary_version(1, eval),
};

}  // namespace

extern constinit const OpDef def{.type = "Atan", .spec = "arithmetic/atan", .versions = kVersions};

}  // namespace ovir::ops::atan
