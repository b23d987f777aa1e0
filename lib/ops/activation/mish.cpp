// Mish: x · tanh(softplus(x)).
// Spec: operation-sets/operation-specs/activation/mish-4
#include "op/kit/elementwise.hpp"

namespace ovir::ops::mish {
namespace {

void eval(EvalContext& c) {
  // Beyond 20 the soft plus is x itself to f32's precision, and exp(x) would overflow later on.
  eval_real(c, []<class T>(T x) { return x * std::tanh(x > T{20} ? x : std::log1p(std::exp(x))); });
}

constexpr Version kVersions[] = {
    float_version(4, eval),
};

}  // namespace

extern constinit const OpDef def{.type = "Mish", .spec = "activation/mish", .versions = kVersions};

}  // namespace ovir::ops::mish
