// Log: natural logarithm.
// Spec: operation-sets/operation-specs/arithmetic/log-1
#include "op/kit/elementwise.hpp"

namespace ovir::ops::log {
namespace {

void eval(EvalContext& c) {
  eval_real(c, []<class T>(T x) { return std::log(x); });
}

constexpr Version kVersions[] = {
    unary_version(1, eval),
};

}  // namespace

extern constinit const OpDef def{.type = "Log", .spec = "arithmetic/log", .versions = kVersions};

}  // namespace ovir::ops::log
