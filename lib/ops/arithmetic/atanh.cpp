// Atanh: the inverse hyperbolic tangent.
// Spec: operation-sets/operation-specs/arithmetic/atanh-3
#include "op/elementwise.hpp"

namespace ovir::ops::atanh {
namespace {

void eval(EvalContext& c) {
  eval_real(c, []<class T>(T x) { return std::atanh(x); });
}

constexpr Version kVersions[] = {
    unary_version(4, eval),
};

}  // namespace

extern constinit const OpDef def{.type = "Atanh", .versions = kVersions};

}  // namespace ovir::ops::atanh
