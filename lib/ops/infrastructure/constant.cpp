// Constant: a tensor whose content lies in the .bin file. Its value is a view of the file, set by the framework.
// Spec: operation-sets/operation-specs/infrastructure/constant-1
#include "op/op.hpp"

namespace ovir::ops::constant {
namespace {

struct Attrs {
  ElementType element_type = ElementType::dynamic;
  std::vector<std::int64_t> shape;
  std::int64_t offset = 0, size = 0;
};

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  c.require_attr(a.element_type != ElementType::dynamic, "element_type", "a constant needs a known element type");
  for (const auto d : a.shape) c.require_attr(d >= 0, "shape", "{} is not a length", d);
  c.require_attr(checked_product(a.shape).has_value(), "shape", "{} has more elements than can be counted",
                 to_string(a.shape));
  c.require_attr(a.offset >= 0, "offset", "{} is not a position in the .bin", a.offset);
  c.require_attr(a.size >= 0, "size", "{} is not a number of bytes", a.size);
  c.output(0, a.element_type, PartialShape(a.shape));
}

constexpr PortDef kOutputs[] = {{"output", {"T"}}};
constexpr Version kVersions[] = {
    {.since = 1,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"element_type", &Attrs::element_type, kRequired>,
                         Attr<"shape", &Attrs::shape, kRequired>, Attr<"offset", &Attrs::offset, kRequired>,
                         Attr<"size", &Attrs::size, kRequired>>,
     .infer = infer},
};

}  // namespace

extern constinit const OpDef def{.type = "Constant",
                                 .spec = "infrastructure/constant",
                                 .versions = kVersions,
                                 .kind = Kind::constant,
                                 .alias = "Const"};

}  // namespace ovir::ops::constant
