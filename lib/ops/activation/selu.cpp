// Selu: lambda · x where x > 0, else lambda · alpha · (exp(x) - 1).
// Spec: operation-sets/operation-specs/activation/selu-1
#include "op/kit/elementwise.hpp"

namespace ovir::ops::selu {
namespace {

enum Input { data, alpha, lambda };

void infer(InferContext& c) {
  c.require_single(alpha);
  c.require_single(lambda);
  c.output(0, c.shape(data));
}

void eval(EvalContext& c) {
  const auto a = c.floats(alpha).at(0), l = c.floats(lambda).at(0);
  eval_real(c, [a, l]<class T>(T x) { return static_cast<T>(l) * (x > 0 ? x : static_cast<T>(a) * std::expm1(x)); });
}

constexpr PortDef kInputs[] = {{"data", kFloatT}, {"alpha", kFloatT}, {"lambda", kFloatT}};

constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = kInputs,
     .outputs = kFloatOutput,
     .infer = infer,
     .eval = eval,
     .error = ErrorBound::elementwise},
};

}  // namespace

extern constinit const OpDef def{.type = "Selu", .spec = "activation/selu", .versions = kVersions};

}  // namespace ovir::ops::selu
