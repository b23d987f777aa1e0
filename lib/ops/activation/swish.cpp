// Swish: x · σ(beta · x).
// Spec: operation-sets/operation-specs/activation/swish-4
#include "op/kit/elementwise.hpp"

namespace ovir::ops::swish {
namespace {

enum Input { data, beta };

void infer(InferContext& c) {
  c.require_rank(beta, 0);
  c.output(0, c.shape(data));
}

void eval(EvalContext& c) {
  const auto b = c.has(beta) ? c.floats(beta).at(0) : 1.0;
  eval_real(c, [b]<class T>(T x) { return x / (1 + std::exp(-static_cast<T>(b) * x)); });
}

constexpr PortDef kInputs[] = {{"data", kFloatT}, {"beta", kFloatT, Arity::optional}};

constexpr Version kVersions[] = {
    {.since = 4,
     .inputs = kInputs,
     .outputs = kFloatOutput,
     .infer = infer,
     .eval = eval,
     .error = ErrorBound::elementwise},
};

}  // namespace

extern constinit const OpDef def{.type = "Swish", .spec = "activation/swish", .versions = kVersions};

}  // namespace ovir::ops::swish
