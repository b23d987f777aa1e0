// RNNCell: one step of a recurrent cell: Ht = f(Xt*W^T + Ht-1*R^T + B).
// Spec: operation-sets/operation-specs/sequence/rnn-cell-3
#include "ops/sequence/common.hpp"

namespace ovir::ops::rnn_cell {
namespace {

using namespace sequence;

void infer(InferContext& c) { sequence::infer(c, kRnnCell); }
void eval(EvalContext& c) { sequence::eval(c, kRnnCell); }

constexpr PortDef kInputs[] = {{"X", T}, {"initial_hidden_state", T}, {"W", T}, {"R", T}, {"B", T}};
constexpr PortDef kOutputs[] = {{"Ho", T}};
constexpr Version kVersions[] = {
    {.since = 1,
     .spec = "sequence/rnn-cell-3",
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = kCellAttrs,
     .infer = infer,
     .eval = eval,
     .macs = macs<kRnnCell>},
};

}  // namespace

extern constinit const OpDef def{.type = "RNNCell", .spec = "sequence/rnn-cell", .versions = kVersions};

}  // namespace ovir::ops::rnn_cell
