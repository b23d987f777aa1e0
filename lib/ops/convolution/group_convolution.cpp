// GroupConvolution: a convolution in which each group of output channels sees only its group of input channels.
// Spec: operation-sets/operation-specs/convolution/group-convolution-1
#include "ops/convolution/common.hpp"

namespace ovir::ops::group_convolution {
namespace {

constexpr bool kGrouped = true;
void infer(InferContext& c) { convolution::infer_forward(c, kGrouped); }
i64 terms(const Version&, const void*, std::span<const Shape> in) { return convolution::products(in[1], {0, 1}); }
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
     .macs = convolution::forward_macs<2>},
};

}  // namespace

extern constinit const OpDef def{
    .type = "GroupConvolution", .spec = "convolution/group-convolution", .versions = kVersions};

}  // namespace ovir::ops::group_convolution
