// Cos: cosine of an angle in radians.
// Spec: operation-sets/operation-specs/arithmetic/cos-1
#include "op/kit/elementwise.hpp"

namespace ovir::ops::cos {
namespace {

void eval(EvalContext& c) {
  eval_real(c, []<class T>(T x) { return std::cos(x); });
}

constexpr Version kVersions[] = {
    unary_version(1, eval),
};

}  // namespace

extern constinit const OpDef def{.type = "Cos", .spec = "arithmetic/cos", .versions = kVersions};

}  // namespace ovir::ops::cos
