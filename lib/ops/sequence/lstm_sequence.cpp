// LSTMSequence: an LSTMCell run along the time axis, forwards, backwards or both.
// Spec: operation-sets/operation-specs/sequence/lstm-sequence-5
#include "ops/sequence/common.hpp"

namespace ovir::ops::lstm_sequence {
namespace {

using namespace sequence;

void infer(InferContext& c) { sequence::infer(c, kLstmSequence); }
void eval(EvalContext& c) { sequence::eval(c, kLstmSequence); }

constexpr PortDef kInputs[] = {
    {"X", T}, {"initial_hidden_state", T}, {"initial_cell_state", T}, {"sequence_lengths", TLength}, {"W", T}, {"R", T},
    {"B", T}};
constexpr PortDef kOutputs[] = {{"Y", T}, {"Ho", T}, {"Co", T}};
constexpr Version kVersions[] = {
    {.since = 5,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = kSequenceAttrs,
     .infer = infer,
     .eval = eval,
     .macs = macs<kLstmSequence>},
};

}  // namespace

extern constinit const OpDef def{.type = "LSTMSequence", .spec = "sequence/lstm-sequence", .versions = kVersions};

}  // namespace ovir::ops::lstm_sequence
