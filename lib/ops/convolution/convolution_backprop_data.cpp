// ConvolutionBackpropData: the transposed convolution: every input element spreads over the outputs that its window
// covers. Spec: operation-sets/operation-specs/convolution/convolution-backprop-data-1
#include "ops/convolution/common.hpp"

namespace ovir::ops::convolution_backprop_data {
namespace {

constexpr bool kGrouped = false;
void infer(InferContext& c) { convolution::infer_backprop(c, kGrouped); }
i64 terms(const Version&, const void*, std::span<const Shape> in) { return convolution::products(in[1], {1}); }
void eval(EvalContext& c) { convolution::eval_backprop(c, kGrouped); }

constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = convolution::kBackpropInputs,
     .outputs = convolution::kOutputs,
     .attrs = convolution::kBackpropAttrs,
     .infer = infer,
     .reads = ports(2),
     .eval = eval,
     .error = ErrorBound::sums,
     .terms = terms,
     .macs = convolution::backprop_macs<1>},
};

}  // namespace

extern constinit const OpDef def{
    .type = "ConvolutionBackpropData", .spec = "convolution/convolution-backprop-data", .versions = kVersions};

}  // namespace ovir::ops::convolution_backprop_data
