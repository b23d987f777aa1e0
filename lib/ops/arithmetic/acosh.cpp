// Acosh: the inverse hyperbolic cosine.
// Spec: operation-sets/operation-specs/arithmetic/acosh-3
#include "op/elementwise.hpp"

namespace ovir::ops::acosh {
namespace {

void eval(EvalContext& c) {
  eval_real(c, []<class T>(T x) { return std::acosh(x); });
}

constexpr Version kVersions[] = {
    unary_version(4, eval),
};

}  // namespace

extern constinit const OpDef def{.type = "Acosh", .versions = kVersions};

}  // namespace ovir::ops::acosh
