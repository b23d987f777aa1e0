// Assign: gives a variable a value, which the ReadValue of the next inference returns.
// Spec: operation-sets/operation-specs/infrastructure/assign-3, assign-6
#include "op/op.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::ops::assign {
namespace {

enum Input { new_value };

/// Assign-3 returns what it stores; Assign-6 has no output in most files.
void infer(InferContext& c) {
  c.require_attr(!c.attrs<VariableAttrs>().variable_id.empty(), "variable_id", "must not be empty");
  for (int port = 0; port < c.output_count(); ++port) c.output(port, c.type(new_value), c.shape(new_value));
}

void eval(EvalContext& c) {
  c.assign(c.attrs<VariableAttrs>().variable_id, c.in(new_value));
  for (int port = 0; port < c.output_count(); ++port) c.set_out(port, c.in(new_value));
}

constexpr TypeVar T{"T", kAnyType};
constexpr PortDef kInputs[] = {{"new_value", T}};
constexpr PortDef kOutputs[] = {{"output", T}};
consteval Version version(int since) {
  return {.since = since,
          .inputs = kInputs,
          .outputs = kOutputs,
          .attrs = kVariableAttrs<>,
          .infer = infer,
          .eval = eval,
          .lift = Lift::moves,
          .pure = false};
}
constexpr Version kVersions[] = {
    version(3),
    version(6),
};

}  // namespace

extern constinit const OpDef def{
    .type = "Assign", .spec = "infrastructure/assign", .versions = kVersions, .kind = Kind::assign};

}  // namespace ovir::ops::assign
