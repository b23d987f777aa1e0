// Elu: alpha · (exp(x) - 1) where x < 0, else x.
// Spec: operation-sets/operation-specs/activation/elu-1
#include "op/kit/elementwise.hpp"

namespace ovir::ops::elu {
namespace {

void infer(InferContext& c) {
  c.require_attr(c.attrs<EluAttrs>().alpha >= 0, "alpha", "must not be negative, but is {}", c.attrs<EluAttrs>().alpha);
  c.output(0, c.shape(0));
}

void eval(EvalContext& c) {
  const auto alpha = c.attrs<EluAttrs>().alpha;
  eval_real(c, [alpha]<class T>(T x) { return x < 0 ? static_cast<T>(alpha) * std::expm1(x) : x; });
}

constexpr auto kAttrs = attributes<EluAttrs, Attr<"alpha", &EluAttrs::alpha, kRequired>>;

constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = kFloatInput,
     .outputs = kFloatOutput,
     .attrs = kAttrs,
     .infer = infer,
     .eval = eval,
     .error = ErrorBound::elementwise},
};

}  // namespace

extern constinit const OpDef def{.type = "Elu", .spec = "activation/elu", .versions = kVersions};

}  // namespace ovir::ops::elu
