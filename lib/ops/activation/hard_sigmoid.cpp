// HardSigmoid: max(0, min(1, alpha · x + beta)).
// Spec: operation-sets/operation-specs/activation/hard-sigmoid-1
#include "op/kit/elementwise.hpp"

namespace ovir::ops::hard_sigmoid {
namespace {

enum Input { data, alpha, beta };

void infer(InferContext& c) {
  c.require_rank(alpha, 0);
  c.require_rank(beta, 0);
  c.output(0, c.shape(data));
}

void eval(EvalContext& c) {
  const auto a = c.floats(alpha).at(0), b = c.floats(beta).at(0);
  eval_real(c,
            [a, b]<class T>(T x) { return std::max(T{0}, std::min(T{1}, static_cast<T>(a) * x + static_cast<T>(b))); });
}

constexpr PortDef kInputs[] = {{"data", kFloatT}, {"alpha", kFloatT}, {"beta", kFloatT}};

constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = kInputs,
     .outputs = kFloatOutput,
     .infer = infer,
     .eval = eval,
     .error = ErrorBound::elementwise},
};

}  // namespace

extern constinit const OpDef def{.type = "HardSigmoid", .spec = "activation/hard-sigmoid", .versions = kVersions};

}  // namespace ovir::ops::hard_sigmoid
