// SquaredDifference: (a - b)²; integers wrap.
// Spec: operation-sets/operation-specs/arithmetic/squared-difference-1
#include "op/kit/elementwise.hpp"

namespace ovir::ops::squared_difference {
namespace {

void eval(EvalContext& c) {
  eval_binary<Numbers>(c, []<class T>(T a, T b) {
    const auto d = wide(a) - wide(b);
    return static_cast<T>(d * d);
  });
}

constexpr Version kVersions[] = {
    binary_version(1, eval),
};

}  // namespace

extern constinit const OpDef def{
    .type = "SquaredDifference", .spec = "arithmetic/squared-difference", .versions = kVersions};

}  // namespace ovir::ops::squared_difference
