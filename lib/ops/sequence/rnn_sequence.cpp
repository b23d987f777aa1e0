// RNNSequence: an RNNCell run along the time axis, forwards, backwards or both.
// Spec: operation-sets/operation-specs/sequence/rnn-sequence-5
#include "ops/sequence/common.hpp"

namespace ovir::ops::rnn_sequence {
namespace {

using namespace sequence;

void infer(InferContext& c) { sequence::infer(c, kRnnSequence); }
void eval(EvalContext& c) { sequence::eval(c, kRnnSequence); }

constexpr PortDef kInputs[] = {{"X", T}, {"initial_hidden_state", T}, {"sequence_lengths", TLength}, {"W", T}, {"R", T},
                               {"B", T}};
constexpr PortDef kOutputs[] = {{"Y", T}, {"Ho", T}};
constexpr Version kVersions[] = {
    {.since = 5,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = kSequenceAttrs,
     .infer = infer,
     .eval = eval,
     .macs = macs<kRnnSequence>},
};

}  // namespace

extern constinit const OpDef def{.type = "RNNSequence", .spec = "sequence/rnn-sequence", .versions = kVersions};

}  // namespace ovir::ops::rnn_sequence
