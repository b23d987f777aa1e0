// GroupConvolutionBackpropData: the transposed convolution, group by group.
// Spec: operation-sets/operation-specs/convolution/group-convolution-backprop-data-1
#include "ops/convolution/common.hpp"

namespace ovir::ops::group_convolution_backprop_data {
namespace {

constexpr bool kGrouped = true;
void infer(InferContext& c) { convolution::infer_backprop(c, kGrouped); }
i64 terms(const Version&, const void*, std::span<const Shape> in) { return convolution::products(in[1], {0, 2}); }
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
     .macs = convolution::backprop_macs<2>},
};

}  // namespace

extern constinit const OpDef def{.type = "GroupConvolutionBackpropData",
                                 .spec = "convolution/group-convolution-backprop-data",
                                 .versions = kVersions};

}  // namespace ovir::ops::group_convolution_backprop_data
