// Gelu: x · Φ(x), Φ being the cumulative normal distribution.
// Spec: operation-sets/operation-specs/activation/gelu-7 and gelu-2
#include <numbers>

#include "op/kit/elementwise.hpp"

namespace ovir::ops::gelu {
namespace {

void eval_erf(EvalContext& c) {
  eval_real(c, []<class T>(T x) { return x * T(0.5) * (1 + std::erf(x * T(std::numbers::sqrt2 / 2))); });
}

constexpr double kFactor = 0.79788456080286535588;  // √(2/π)

/// "Gelu(x) ≈ x · 1/2 · (1 + tanh[√(2/π) · (x + 0.044715 · x³)])"
void eval_tanh(EvalContext& c) {
  eval_real(c, []<class T>(T x) { return x * T(0.5) * (1 + std::tanh(T(kFactor) * (x + T(0.044715) * x * x * x))); });
}

void eval(EvalContext& c) { c.attrs<GeluAttrs>().approximation_mode == GeluMode::tanh ? eval_tanh(c) : eval_erf(c); }

constexpr auto kAttrs = attributes<GeluAttrs, Attr<"approximation_mode", &GeluAttrs::approximation_mode>>;

constexpr Version kVersions[] = {
    float_version(2, eval_erf),
    {.since = 7,
     .inputs = kFloatInput,
     .outputs = kFloatOutput,
     .attrs = kAttrs,
     .infer = infer_unary,
     .eval = eval,
     .error = ErrorBound::elementwise},
};

}  // namespace

extern constinit const OpDef def{.type = "Gelu", .spec = "activation/gelu", .versions = kVersions};

}  // namespace ovir::ops::gelu
