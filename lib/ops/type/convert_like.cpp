// ConvertLike: the elements of `data` in the type of `like`, whose shape and values do not matter.
// Spec: operation-sets/operation-specs/type/convert-like-1
#include "ops/type/common.hpp"

namespace ovir::ops::convert_like {
namespace {

enum Input { data, like };

void infer(InferContext& c) {
  c.output(0, c.shape(data));
  // `like` is rarely known where `data` is.
  if (const auto* known = c.peek(data);
      known && known->size() <= kMaxPropagated && c.type(like) != ElementType::dynamic)
    c.output_value(0, ovir::convert(*known, c.type(like)));
}

void eval(EvalContext& c) { put_converted(c, 0, c.declared_out_type(0)); }

constexpr TypeVar T1{"T1", kConvertible}, T2{"T2", kConvertible};
constexpr PortDef kInputs[] = {{"data", T1}, {"like", T2}};
constexpr PortDef kOutput[] = {{"output", T2}};
constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = kInputs,
     .outputs = kOutput,
     .infer = infer,
     .eval = eval,
     .lift = Lift::moves,
     .bounds = bounds_of_conversion,
     .error = ErrorBound::elementwise},
};

}  // namespace

extern constinit const OpDef def{.type = "ConvertLike", .spec = "type/convert-like", .versions = kVersions};

}  // namespace ovir::ops::convert_like
