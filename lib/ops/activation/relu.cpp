// Relu: max(0, x).
// Spec: operation-sets/operation-specs/activation/relu-1
#include "op/kit/elementwise.hpp"

namespace ovir::ops::relu {
namespace {

void eval(EvalContext& c) {
  eval_unary<Numbers>(c, []<class T>(T x) { return x < 0 ? T{0} : x; });
}

constexpr Version kVersions[] = {
    unary_version(1, eval),
};

}  // namespace

extern constinit const OpDef def{.type = "Relu", .spec = "activation/relu", .versions = kVersions};

}  // namespace ovir::ops::relu
