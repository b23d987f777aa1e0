// Maximum: the greater of a and b; NaN where either is.
// Spec: operation-sets/operation-specs/arithmetic/maximum-1
#include "op/kit/elementwise.hpp"

namespace ovir::ops::maximum {
namespace {

void eval(EvalContext& c) {
  eval_binary<Numbers>(c, []<class T>(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      if (std::isnan(a)) return a;
    return b < a ? a : b;
  });
}

void bounds(InferContext& c) {
  bounds_elementwise(c, [](Interval a, Interval b) { return max(a, b); });
}

constexpr Version kVersions[] = {
    binary_version(1, eval, bounds),
};

}  // namespace

extern constinit const OpDef def{.type = "Maximum", .spec = "arithmetic/maximum", .versions = kVersions};

}  // namespace ovir::ops::maximum
