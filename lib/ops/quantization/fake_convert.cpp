// FakeConvert: to a type of eight bits and back, between an affine transformation and its inverse.
// Spec: operation-sets/operation-specs/quantization/fake-convert-13
#include "base/half.hpp"
#include "op/kit/elementwise.hpp"

namespace ovir::ops::fake_convert {
namespace {

enum Input { data, scale, shift };

struct Attrs {
  ElementType destination_type = ElementType::dynamic;
};

void infer(InferContext& c) {
  const auto to = c.attrs<Attrs>().destination_type;
  c.require_attr(to == ElementType::f8e4m3 || to == ElementType::f8e5m2, "destination_type",
                 "must be f8e4m3 or f8e5m2, but is {}", name(to));
  auto shape = c.shape(data);
  require_broadcast_into(c, scale, shape, true);
  if (c.has(shift)) {
    // "match the shape of the scale input".
    c.require_same_shape(scale, shift);
    require_broadcast_into(c, shift, shape, true);
  }
  c.output(0, std::move(shape));
}

/// Rounded as Convert does it, by way of f16, but what is too large becomes the largest number of the type (as in
/// OpenVINO's kernels; the specification is silent).
template <class F8>
float narrowed(float x, float largest) {
  const auto half = static_cast<float>(f16(x));
  if (std::abs(half) > largest) return std::copysign(largest, half);
  return static_cast<float>(F8(half));
}

void eval(EvalContext& c) {
  const bool e4m3 = c.attrs<Attrs>().destination_type == ElementType::f8e4m3;
  const auto& x = c.in(data);
  const auto& s = c.in(scale);
  const auto none = Tensor::of<float>(ElementType::f32, {}, std::vector<float>{0.0f});
  const auto& o = c.has(shift) ? c.in(shift) : none;
  auto& out = c.out(0);
  // "data * scale - shift", the narrow type, "(data + shift) / scale"
  broadcast_binary<float, float, float>(x, s, out, [](float v, float by) { return v * by; });
  broadcast_binary<float, float, float>(out, o, out, [e4m3](float v, float by) {
    return (e4m3 ? narrowed<f8e4m3>(v - by, 448.0f) : narrowed<f8e5m2>(v - by, 57344.0f)) + by;
  });
  broadcast_binary<float, float, float>(out, s, out, [](float v, float by) { return v / by; });
}

constexpr auto kAttrs = attributes<Attrs, Attr<"destination_type", &Attrs::destination_type, kRequired>>;
constexpr TypeVar T{"T_F", set_of(ElementType::f32, ElementType::f16, ElementType::bf16)};
constexpr PortDef kInputs[] = {{"data", T}, {"scale", T}, {"shift", T, Arity::optional}};
constexpr PortDef kOutput[] = {{"output", T}};
constexpr Version kVersions[] = {
    {.since = 13,
     .inputs = kInputs,
     .outputs = kOutput,
     .attrs = kAttrs,
     .infer = infer,
     .eval = eval,
     .error = ErrorBound::elementwise},
};

}  // namespace

extern constinit const OpDef def{.type = "FakeConvert", .spec = "quantization/fake-convert", .versions = kVersions};

}  // namespace ovir::ops::fake_convert
