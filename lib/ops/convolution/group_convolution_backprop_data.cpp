// GroupConvolutionBackpropData: the transposed convolution, group by group.
// Spec: operation-sets/operation-specs/convolution/group-convolution-backprop-data-1
#include "ops/convolution/common.hpp"

namespace ovir::ops::group_convolution_backprop_data {
namespace {

constexpr bool kGrouped = true;
void infer(InferContext& c) { conv::infer_backprop(c, kGrouped); }
void eval(EvalContext& c) { conv::eval_backprop(c, kGrouped); }

constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = conv::kBackpropInputs,
     .outputs = conv::kOutputs,
     .attrs = conv::kBackpropAttrs,
     .infer = infer,
     .reads = ports(2),
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "GroupConvolutionBackpropData",
                                 .spec = "convolution/group-convolution-backprop-data",
                                 .versions = kVersions};

}  // namespace ovir::ops::group_convolution_backprop_data
