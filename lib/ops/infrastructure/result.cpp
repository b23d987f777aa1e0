// Result: an output of the model.
// Spec: operation-sets/operation-specs/infrastructure/result-1
#include "op/op.hpp"

namespace ovir::ops::result {
namespace {

enum Input { data };

/// Files give a Result no output port; where one does, it passes on what it receives.
void infer(InferContext& c) {
  for (int port = 0; port < c.output_count(); ++port) {
    c.output(port, c.type(data), c.shape(data));
    if (const auto* value = c.peek(data)) c.output_value(port, *value);  // what a body gives may be a constant
  }
}

void eval(EvalContext& c) {
  for (int port = 0; port < c.output_count(); ++port) c.set_out(port, c.in(data));
}

constexpr PortDef kInputs[] = {{"data", {"T"}}};
constexpr Version kVersions[] = {{.since = 1, .inputs = kInputs, .infer = infer, .eval = eval, .lift = Lift::moves}};

}  // namespace

extern constinit const OpDef def{
    .type = "Result", .spec = "infrastructure/result", .versions = kVersions, .kind = Kind::result};

}  // namespace ovir::ops::result
