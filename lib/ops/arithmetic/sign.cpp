// Sign: -1, 0 or 1 as x is negative, zero or positive; "nan is returned for nan inputs".
// Spec: operation-sets/operation-specs/arithmetic/sign-1
#include "op/kit/elementwise.hpp"

namespace ovir::ops::sign {
namespace {

void eval(EvalContext& c) {
  eval_unary<Numbers>(c, []<class T>(T x) {
    if constexpr (std::is_floating_point_v<T>)
      if (std::isnan(x)) return x;
    return static_cast<T>((x > 0) - (x < 0));
  });
}

constexpr Version kVersions[] = {
    unary_version(1, eval),
};

}  // namespace

extern constinit const OpDef def{.type = "Sign", .spec = "arithmetic/sign", .versions = kVersions};

}  // namespace ovir::ops::sign
