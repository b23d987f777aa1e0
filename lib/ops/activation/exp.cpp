// Exp: e to the power of x.
// Spec: operation-sets/operation-specs/activation/exp-1
#include "op/kit/elementwise.hpp"

namespace ovir::ops::exp {
namespace {

void eval(EvalContext& c) {
  eval_real(c, []<class T>(T x) { return std::exp(x); });
}

constexpr Version kVersions[] = {
    unary_version(1, eval),
};

}  // namespace

extern constinit const OpDef def{.type = "Exp", .spec = "activation/exp", .versions = kVersions};

}  // namespace ovir::ops::exp
