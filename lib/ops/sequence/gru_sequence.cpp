// GRUSequence: a GRUCell run along the time axis, forwards, backwards or both.
// Spec: operation-sets/operation-specs/sequence/gru-sequence-5
#include "ops/sequence/common.hpp"

namespace ovir::ops::gru_sequence {
namespace {

using namespace sequence;

void infer(InferContext& c) { sequence::infer(c, kGruSequence); }
void eval(EvalContext& c) { sequence::eval(c, kGruSequence); }

constexpr PortDef kInputs[] = {{"X", T}, {"initial_hidden_state", T}, {"sequence_lengths", TLength}, {"W", T}, {"R", T},
                               {"B", T}};
constexpr PortDef kOutputs[] = {{"Y", T}, {"Ho", T}};
constexpr auto kAttrs =
    attributes<A, Attr<"hidden_size", &A::hidden_size, kRequired>, Attr<"direction", &A::direction>,
               Attr<"activations", &A::activations>, Attr<"activations_alpha", &A::activations_alpha>,
               Attr<"activations_beta", &A::activations_beta>, Attr<"clip", &A::clip>,
               Attr<"linear_before_reset", &A::linear_before_reset>>;
constexpr Version kVersions[] = {
    {.since = 5,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = kAttrs,
     .infer = infer,
     .eval = eval,
     .macs = macs<kGruSequence>},
};

}  // namespace

extern constinit const OpDef def{.type = "GRUSequence", .spec = "sequence/gru-sequence", .versions = kVersions};

}  // namespace ovir::ops::gru_sequence
