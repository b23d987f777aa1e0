// Sqrt: square root.
// Spec: operation-sets/operation-specs/arithmetic/sqrt-1
#include "op/kit/elementwise.hpp"

namespace ovir::ops::sqrt {
namespace {

void eval(EvalContext& c) {
  eval_real(c, []<class T>(T x) { return std::sqrt(x); });
}

constexpr Version kVersions[] = {
    unary_version(1, eval),
};

}  // namespace

extern constinit const OpDef def{.type = "Sqrt", .spec = "arithmetic/sqrt", .versions = kVersions};

}  // namespace ovir::ops::sqrt
