// ConvertPromoteTypes: both inputs in one common type, by rules after PyTorch and TensorFlow.
// Spec: operation-sets/operation-specs/type/convert-promote-types-14
#include "ops/type/common.hpp"

namespace ovir::ops::convert_promote_types {
namespace {

struct Attrs {
  bool promote_unsafe = false, pytorch_scalar_promotion = false;
  ElementType u64_integer_promotion_target = ElementType::f32;
};

bool is_signed(ElementType t) { return contains(kSigned, t) || is_float(t); }

/// "signed, with minimal bit-width to hold all possible values supported by input data types".
ElementType signed_of(int bits) {
  using enum ElementType;
  for (const auto type : {i4, i8, i16, i32})
    if (bits <= bit_width(type)) return type;
  return i64;
}

/// What is neither the one type nor the other is a promotion that must be asked for.
ElementType unsafe(InferContext& c, ElementType t) {
  c.require_attr(c.attrs<Attrs>().promote_unsafe, "promote_unsafe",
                 "must be true to convert {} and {} to {}, which does not hold all their values", name(c.type(0)),
                 name(c.type(1)), name(t));
  return t;
}

ElementType common_type(InferContext& c) {
  using enum ElementType;
  const auto& attrs = c.attrs<Attrs>();
  const auto a = c.type(0), b = c.type(1);
  if (a == dynamic || b == dynamic) return dynamic;
  if (a == b || b == boolean) return a;
  if (a == boolean) return b;
  const auto wa = bit_width(a), wb = bit_width(b);

  // "conversion will fail if floating-point bit-width would be less than double of integer".
  if (is_float(a) != is_float(b)) {
    const auto real = is_float(a) ? a : b, integer = is_float(a) ? b : a;
    return bit_width(real) >= 2 * bit_width(integer) ? real : unsafe(c, real);
  }

  // "one of inputs is scalar-tensor (rank 0) and second input is dimensioned tensor": the latter's type is taken.
  const auto scalar = [&](int port) { return c.shape(port).has_rank() && c.shape(port).rank() == 0; };
  if (attrs.pytorch_scalar_promotion && !(c.shape(0).has_rank() && c.shape(1).has_rank()))
    return dynamic;  // the ranks decide
  if (attrs.pytorch_scalar_promotion && scalar(0) != scalar(1)) {
    const auto target = scalar(0) ? b : a, other = scalar(0) ? a : b;
    const auto room = bit_width(target) * (is_signed(target) && !is_signed(other) ? 2 : 1);
    const bool holds = (is_signed(target) || !is_signed(other)) && room >= bit_width(other);
    return holds ? target : unsafe(c, target);
  }

  if (is_signed(a) != is_signed(b)) {
    const auto unsigned_width = is_signed(a) ? wb : wa, signed_width = is_signed(a) ? wa : wb;
    if (unsigned_width > 32) return unsafe(c, attrs.u64_integer_promotion_target);
    const auto both = signed_of(std::max(2 * unsigned_width, signed_width));
    return 2 * unsigned_width <= signed_width ? both : unsafe(c, both);
  }
  if (wa != wb) return wa > wb ? a : b;
  // Two floats of one width: f8e4m3 with f8e5m2 "was manually set to f16"; f16 with bf16 gives f32.
  return unsafe(c, wa == 8 ? f16 : f32);
}

void infer(InferContext& c) {
  const auto type = common_type(c);
  for (int port = 0; port < 2; ++port) c.output(port, type, c.shape(port));
}

void eval(EvalContext& c) {
  for (int port = 0; port < 2; ++port) put_converted(c, port, c.declared_out_type(port));
}

constexpr auto kAttrs = attributes<Attrs, Attr<"promote_unsafe", &Attrs::promote_unsafe>,
                                   Attr<"pytorch_scalar_promotion", &Attrs::pytorch_scalar_promotion>,
                                   Attr<"u64_integer_promotion_target", &Attrs::u64_integer_promotion_target>>;
constexpr PortDef kInputs[] = {{"input_0", {"T1", kConvertible}}, {"input_1", {"T2", kConvertible}}};
constexpr PortDef kOutputs[] = {{"output_0", {"T_OUT", kConvertible}}, {"output_1", {"T_OUT", kConvertible}}};
constexpr Version kVersions[] = {
    {.since = 14,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = kAttrs,
     .infer = infer,
     .eval = eval,
     .lift = Lift::moves,
     .error = ErrorBound::elementwise},
};

}  // namespace

extern constinit const OpDef def{
    .type = "ConvertPromoteTypes", .spec = "type/convert-promote-types", .versions = kVersions};

}  // namespace ovir::ops::convert_promote_types
