// Multiply: a · b; integers wrap.
// Spec: operation-sets/operation-specs/arithmetic/multiply-1
#include "op/kit/elementwise.hpp"

namespace ovir::ops::multiply {
namespace {

void eval(EvalContext& c) {
  eval_binary<Numbers>(c, []<class T>(T a, T b) { return static_cast<T>(wide(a) * wide(b)); });
}

void bounds(InferContext& c) {
  bounds_elementwise(c, [](Interval a, Interval b) { return a * b; });
}

constexpr Version kVersions[] = {
    binary_version(1, eval, bounds),
};

}  // namespace

extern constinit const OpDef def{.type = "Multiply", .spec = "arithmetic/multiply", .versions = kVersions};

}  // namespace ovir::ops::multiply
