// Parameter: an input of the model.
// Spec: operation-sets/operation-specs/infrastructure/parameter-1
#include "op/op.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::ops::parameter {
namespace {

void infer(InferContext& c) {
  const auto& a = c.attrs<ParameterAttrs>();
  c.output(0, a.element_type, a.shape);
}

constexpr PortDef kOutputs[] = {{"output", {"T"}}};
constexpr Version kVersions[] = {
    {.since = 1, .outputs = kOutputs, .attrs = kParameterAttrs, .infer = infer},
};

}  // namespace

extern constinit const OpDef def{
    .type = "Parameter", .spec = "infrastructure/parameter", .versions = kVersions, .kind = Kind::parameter};

}  // namespace ovir::ops::parameter
