// Asin: the angle in [-π/2, π/2] whose sine is x.
// Spec: operation-sets/operation-specs/arithmetic/asin-1
#include "op/kit/elementwise.hpp"

namespace ovir::ops::asin {
namespace {

void eval(EvalContext& c) {
  eval_real(c, []<class T>(T x) { return std::asin(x); });
}

constexpr Version kVersions[] = {
    unary_version(1, eval),
};

}  // namespace

extern constinit const OpDef def{.type = "Asin", .spec = "arithmetic/asin", .versions = kVersions};

}  // namespace ovir::ops::asin
