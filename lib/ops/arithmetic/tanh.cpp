// Tanh: hyperbolic tangent.
// Spec: operation-sets/operation-specs/arithmetic/tanh-1
#include "op/kit/elementwise.hpp"

namespace ovir::ops::tanh {
namespace {

void eval(EvalContext& c) {
  eval_real(c, []<class T>(T x) { return std::tanh(x); });
}

constexpr Version kVersions[] = {
    unary_version(1, eval),
};

}  // namespace

extern constinit const OpDef def{.type = "Tanh", .spec = "arithmetic/tanh", .versions = kVersions};

}  // namespace ovir::ops::tanh
