// Negative: -x.
// Spec: operation-sets/operation-specs/arithmetic/negative-1
#include "op/kit/elementwise.hpp"

namespace ovir::ops::negative {
namespace {

void eval(EvalContext& c) {
  eval_unary<Numbers>(c, []<class T>(T x) {
    if constexpr (std::is_integral_v<T>) return static_cast<T>(0 - wide(x));
    else return -x;
  });
}

void bounds(InferContext& c) {
  bounds_elementwise(c, [](Interval v) { return Interval{-v.hi, -v.lo}; });
}

constexpr Version kVersions[] = {
    unary_version(1, eval, bounds),
};

}  // namespace

extern constinit const OpDef def{.type = "Negative", .spec = "arithmetic/negative", .versions = kVersions};

}  // namespace ovir::ops::negative
