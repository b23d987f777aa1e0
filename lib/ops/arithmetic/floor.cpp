// Floor: the greatest integer that is not above x.
// Spec: operation-sets/operation-specs/arithmetic/floor-1
#include "op/elementwise.hpp"

namespace ovir::ops::floor {
namespace {

void eval(EvalContext& c) {
  eval_unary<Numbers>(c, []<class T>(T x) {
    if constexpr (std::is_integral_v<T>)
      return x;
    else
      return std::floor(x);
  });
}

void bounds(InferContext& c) {
  bounds_elementwise(c, [](Interval v) {
    return monotone(
        v, [](double x) { return std::floor(x); }, true);
  });
}

constexpr Version kVersions[] = {
    unary_version(1, eval, bounds),
};

}  // namespace

extern constinit const OpDef def{.type = "Floor", .versions = kVersions};

}  // namespace ovir::ops::floor
