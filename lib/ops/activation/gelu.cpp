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

consteval Version version(int since, AttributeTable attrs) {
  auto v = float_version(since, eval);
  v.attrs = attrs;
  return v;
}
constexpr Version kVersions[] = {
    version(2, attributes<GeluAttrs>),
    version(7, attributes<GeluAttrs, Attr<"approximation_mode", &GeluAttrs::approximation_mode>>),
};

}  // namespace

extern constinit const OpDef def{.type = "Gelu", .spec = "activation/gelu", .versions = kVersions};

}  // namespace ovir::ops::gelu
