// GRUCell: one step of a gated recurrent unit.
// Spec: operation-sets/operation-specs/sequence/gru-cell-3
#include "ops/sequence/common.hpp"

namespace ovir::ops::gru_cell {
namespace {

using namespace sequence;

void infer(InferContext& c) { sequence::infer(c, kGruCell); }
void eval(EvalContext& c) { sequence::eval(c, kGruCell); }

constexpr PortDef kInputs[] = {{"X", T}, {"initial_hidden_state", T}, {"W", T}, {"R", T}, {"B", T, Arity::optional}};
constexpr PortDef kOutputs[] = {{"Ho", T}};
constexpr auto kAttrs =
    attributes<A, Attr<"hidden_size", &A::hidden_size, kRequired>, Attr<"activations", &A::activations>,
               Attr<"activations_alpha", &A::activations_alpha>, Attr<"activations_beta", &A::activations_beta>,
               Attr<"clip", &A::clip>, Attr<"linear_before_reset", &A::linear_before_reset>>;
constexpr Version kVersions[] = {
    {.since = 3,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = kAttrs,
     .infer = infer,
     .eval = eval,
     .macs = macs<kGruCell>},
};

}  // namespace

extern constinit const OpDef def{.type = "GRUCell", .spec = "sequence/gru-cell", .versions = kVersions};

}  // namespace ovir::ops::gru_cell
