// Convolution: slides filters over the data; each output is the sum of the products under the window.
// Spec: operation-sets/operation-specs/convolution/convolution-1
#include "ops/convolution/common.hpp"

namespace ovir::ops::convolution {
namespace {

constexpr bool kGrouped = false;
void infer(InferContext& c) { convolution::infer_forward(c, kGrouped); }
i64 terms(const Version&, const void*, std::span<const Shape> in) { return convolution::products(in[1], {0}); }
void eval(EvalContext& c) { convolution::eval_forward(c, kGrouped); }

constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = convolution::kInputs,
     .outputs = convolution::kOutputs,
     .attrs = convolution::kForwardAttrs,
     .infer = infer,
     .eval = eval,
     .error = ErrorBound::sums,
     .terms = terms,
     .macs = convolution::forward_macs<1>},
};

}  // namespace

extern constinit const OpDef def{.type = "Convolution", .spec = "convolution/convolution", .versions = kVersions};

}  // namespace ovir::ops::convolution
