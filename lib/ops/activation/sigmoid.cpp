// Sigmoid: 1 / (1 + exp(-x)).
// Spec: operation-sets/operation-specs/activation/sigmoid-1
#include "op/kit/elementwise.hpp"

namespace ovir::ops::sigmoid {
namespace {

void eval(EvalContext& c) {
  eval_real(c, []<class T>(T x) { return 1 / (1 + std::exp(-x)); });
}

constexpr Version kVersions[] = {
    unary_version(1, eval),
};

}  // namespace

extern constinit const OpDef def{.type = "Sigmoid", .spec = "activation/sigmoid", .versions = kVersions};

}  // namespace ovir::ops::sigmoid
