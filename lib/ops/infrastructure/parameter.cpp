// Parameter: an input of the model.
// Spec: operation-sets/operation-specs/infrastructure/parameter-1
#include "op/op.hpp"

namespace ovir::ops::parameter {
namespace {

struct Attrs {
  ElementType element_type = ElementType::dynamic;
  PartialShape shape = PartialShape::unknown_rank();
};

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  c.output(0, a.element_type, a.shape);
}

constexpr PortDef kOutputs[] = {{"output", {"T"}}};
constexpr Version kVersions[] = {
    {.since = 1,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"element_type", &Attrs::element_type, kRequired>,
                         Attr<"shape", &Attrs::shape, kRequired>>,
     .infer = infer},
};

}  // namespace

extern constinit const OpDef def{
    .type = "Parameter", .spec = "infrastructure/parameter", .versions = kVersions, .kind = Kind::parameter};

}  // namespace ovir::ops::parameter
