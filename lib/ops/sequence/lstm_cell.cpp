// LSTMCell: one step of a long short-term memory.
// Spec: operation-sets/operation-specs/sequence/lstm-cell-1
#include "ops/sequence/common.hpp"

namespace ovir::ops::lstm_cell {
namespace {

using namespace sequence;

void infer(InferContext& c) { sequence::infer(c, kLstmCell); }
void eval(EvalContext& c) { sequence::eval(c, kLstmCell); }

constexpr PortDef kInputs[] = {{"X", T}, {"initial_hidden_state", T}, {"initial_cell_state", T}, {"W", T},
                               {"R", T}, {"B", T, Arity::optional}};
constexpr PortDef kOutputs[] = {{"Ho", T}, {"Co", T}};
// Version 1 may have its gates in another order; the serializer writes it and input_forget.
constexpr auto kAttrs1 =
    attributes<A, Attr<"hidden_size", &A::hidden_size, kRequired>, Attr<"activations", &A::activations>,
               Attr<"activations_alpha", &A::activations_alpha>, Attr<"activations_beta", &A::activations_beta>,
               Attr<"clip", &A::clip>, Attr<"weights_format", &A::weights_format>,
               Attr<"input_forget", &A::input_forget>>;
constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = kAttrs1,
     .infer = infer,
     .eval = eval,
     .macs = macs<kLstmCell>},
    {.since = 4,
     .spec = "sequence/lstm-cell-1",
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = kCellAttrs,
     .infer = infer,
     .eval = eval,
     .macs = macs<kLstmCell>},
};

}  // namespace

extern constinit const OpDef def{.type = "LSTMCell", .spec = "sequence/lstm-cell", .versions = kVersions};

}  // namespace ovir::ops::lstm_cell
