// Convert: the elements in another type.
// Spec: operation-sets/operation-specs/type/convert-1. How elements are converted: tensor/tensor.hpp, convert().
#include "ops/type/common.hpp"

namespace ovir::ops::convert {
namespace {

struct Attrs {
  ElementType destination_type = ElementType::dynamic;
};

void infer(InferContext& c) {
  const auto to = c.attrs<Attrs>().destination_type;
  c.require_attr(contains(kConvertible, to) && to != ElementType::dynamic, "destination_type",
                 "must be a type to convert to, but is {}", name(to));
  c.output(0, to, c.shape(0));
}

void eval(EvalContext& c) { put_converted(c, 0, c.attrs<Attrs>().destination_type); }

constexpr auto kAttrs = attributes<Attrs, Attr<"destination_type", &Attrs::destination_type, kRequired>>;
constexpr PortDef kInput[] = {{"data", {"T", kConvertible}}};
constexpr PortDef kOutput[] = {{"output", {"T_OUT", kConvertible}}};
constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = kInput,
     .outputs = kOutput,
     .attrs = kAttrs,
     .infer = infer,
     .eval = eval,
     .lift = Lift::moves,
     .bounds = bounds_of_conversion,
     .converts = true,
     .error = ErrorBound::elementwise},
};

}  // namespace

extern constinit const OpDef def{.type = "Convert", .spec = "type/convert", .versions = kVersions};

}  // namespace ovir::ops::convert
