// Add: a + b; integers wrap.
// Spec: operation-sets/operation-specs/arithmetic/add-1
#include "op/kit/elementwise.hpp"

namespace ovir::ops::add {
namespace {

void eval(EvalContext& c) {
  eval_binary<Numbers>(c, []<class T>(T a, T b) { return static_cast<T>(wide(a) + wide(b)); });
}

void bounds(InferContext& c) {
  bounds_elementwise(c, [](Interval a, Interval b) { return a + b; });
}

constexpr Version kVersions[] = {
    binary_version(1, eval, bounds),
};

}  // namespace

extern constinit const OpDef def{.type = "Add", .spec = "arithmetic/add", .versions = kVersions};

}  // namespace ovir::ops::add
