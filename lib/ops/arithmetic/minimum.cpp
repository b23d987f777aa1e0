// Minimum: the lesser of a and b; NaN where either is.
// Spec: operation-sets/operation-specs/arithmetic/minimum-1
#include "op/kit/elementwise.hpp"

namespace ovir::ops::minimum {
namespace {

void eval(EvalContext& c) {
  eval_binary<Numbers>(c, []<class T>(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      if (std::isnan(a)) return a;
    return a < b ? a : b;
  });
}

void bounds(InferContext& c) {
  bounds_elementwise(c, [](Interval a, Interval b) { return min(a, b); });
}

constexpr Version kVersions[] = {
    binary_version(1, eval, bounds),
};

}  // namespace

extern constinit const OpDef def{.type = "Minimum", .spec = "arithmetic/minimum", .versions = kVersions};

}  // namespace ovir::ops::minimum
