// Constant: a tensor whose content lies in the .bin file. Its value is a view of the file, set by the framework.
// Spec: operation-sets/operation-specs/infrastructure/constant-1
#include "op/op.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::ops::constant {
namespace {

void infer(InferContext& c) {
  const auto& a = c.attrs<ConstantAttrs>();
  c.require_attr(a.element_type != ElementType::dynamic, "element_type", "must be a known element type");
  c.output(0, a.element_type, PartialShape(a.shape));
}

constexpr PortDef kOutputs[] = {{"output", {"T"}}};
constexpr Version kVersions[] = {
    {.since = 1, .outputs = kOutputs, .attrs = kConstantAttrs, .infer = infer},
};

}  // namespace

extern constinit const OpDef def{.type = "Constant",
                                 .spec = "infrastructure/constant",
                                 .versions = kVersions,
                                 .kind = Kind::constant,
                                 .alias = "Const"};

}  // namespace ovir::ops::constant
