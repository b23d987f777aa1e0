// Subtract: a - b; integers wrap.
// Spec: operation-sets/operation-specs/arithmetic/subtract-1
#include "op/kit/elementwise.hpp"

namespace ovir::ops::subtract {
namespace {

void eval(EvalContext& c) {
  eval_binary<Numbers>(c, []<class T>(T a, T b) { return static_cast<T>(wide(a) - wide(b)); });
}

void bounds(InferContext& c) {
  if (contains(kUnsigned, c.type(0))) return;  // below 0 they wrap
  bounds_elementwise(c, [](Interval a, Interval b) { return a - b; });
}

constexpr Version kVersions[] = {
    binary_version(1, eval, bounds),
};

}  // namespace

extern constinit const OpDef def{.type = "Subtract", .spec = "arithmetic/subtract", .versions = kVersions};

}  // namespace ovir::ops::subtract
