// Ceiling: the least integer that is not below x.
// Spec: operation-sets/operation-specs/arithmetic/ceiling-1
#include "op/elementwise.hpp"

namespace ovir::ops::ceiling {
namespace {

void eval(EvalContext& c) {
  eval_unary<Numbers>(c, []<class T>(T x) {
    if constexpr (std::is_integral_v<T>)
      return x;
    else
      return std::ceil(x);
  });
}

void bounds(InferContext& c) {
  bounds_elementwise(c, [](Interval v) {
    return monotone(
        v, [](double x) { return std::ceil(x); }, true);
  });
}

constexpr Version kVersions[] = {
    unary_version(1, eval, bounds),
};

}  // namespace

extern constinit const OpDef def{.type = "Ceiling", .versions = kVersions};

}  // namespace ovir::ops::ceiling
