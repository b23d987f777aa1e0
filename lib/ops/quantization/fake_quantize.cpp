// FakeQuantize: each element is moved to one of `levels` equidistant values between limits.
// Spec: operation-sets/operation-specs/quantization/fake-quantize-1
#include <array>

#include "op/kit/elementwise.hpp"

namespace ovir::ops::fake_quantize {
namespace {

enum Input { X, input_low, input_high, output_low, output_high };

void infer(InferContext& c) {
  const auto& a = c.attrs<FakeQuantizeAttrs>();
  c.require_attr(a.levels >= 2, "levels", "must be 2 or more, but is {}", a.levels);
  auto shape = c.shape(X);
  for (int limit = input_low; limit <= output_high; ++limit) {
    if (a.auto_broadcast == AutoBroadcast::numpy) require_broadcast_into(c, limit, shape);
    else broadcast_shape(c, X, limit, a.rule());
  }
  c.output(0, std::move(shape));
}

/// "round((x - input_low) / (input_high - input_low) * (levels-1)) / (levels-1) * (output_high - output_low) +
/// output_low", in the element's own type; halves go to the even level, as in OpenVINO's reference kernel.
template <class T>
struct Quantizer {
  T in_min, in_max, in_low, in_range, out_low, out_range, out_high, steps;

  Quantizer(T il, T ih, T ol, T oh, i64 levels)
      : in_min(std::min(il, ih)),
        in_max(std::max(il, ih)),
        in_low(il),
        in_range(ih - il),
        out_low(ol),
        out_range(oh - ol),
        out_high(oh),
        steps(static_cast<T>(levels - 1)) {}

  T operator()(T x) const {
    if (x <= in_min) return out_low;
    if (x > in_max) return out_high;
    return std::nearbyint((x - in_low) / in_range * steps) / steps * out_range + out_low;
  }
};

void eval(EvalContext& c) {
  const auto& attrs = c.attrs<FakeQuantizeAttrs>();
  const auto& from = c.in(X);
  auto& to = c.out(0);
  if (from.size() == 0) return;
  const auto& shape = from.shape();
  std::array<Tensor, 4> limits;
  std::array<Shape, 4> strides;
  for (int i = 0; i < 4; ++i) {
    limits[i] = as_numpy_operand(c.in(input_low + i), from.rank(), attrs.rule());
    strides[i] = strides_into(limits[i].shape(), shape);
  }
  // The last axes along which no limit changes are one run.
  auto outer = shape;
  i64 run = 1;
  for (auto axis = outer.size(); axis-- > 0; outer.pop_back()) {
    if (outer[axis] != 1 && std::any_of(strides.begin(), strides.end(), [&](const Shape& s) { return s[axis] != 0; }))
      break;
    run *= outer[axis];
  }
  for (auto& s : strides) s.resize(outer.size());

  dispatch(from.type(), Floats{}, [&]<class T>() {
    const T* x = from.data<T>();
    T* y = to.mutable_data<T>();
    for (IndexWalker at(outer); !at.done(); at.next(), x += run, y += run) {
      const auto limit = [&](std::size_t i) { return limits[i].template data<T>()[at.offset(strides[i])]; };
      const Quantizer<T> quantize(limit(0), limit(1), limit(2), limit(3), attrs.levels);
      for (i64 i = 0; i < run; ++i) y[i] = quantize(x[i]);
    }
  });
}

constexpr TypeVar T{"T_F", kFloat};
constexpr PortDef kInputs[] = {{"X", T}, {"input_low", T}, {"input_high", T}, {"output_low", T}, {"output_high", T}};
constexpr PortDef kOutput[] = {{"output", T}};
constexpr auto kAttrs = attributes<FakeQuantizeAttrs, Attr<"levels", &FakeQuantizeAttrs::levels, kRequired>,
                                   Attr<"auto_broadcast", &FakeQuantizeAttrs::auto_broadcast>,
                                   Attr<"auto_broadcast.auto_broadcast_axis", &FakeQuantizeAttrs::auto_broadcast_axis>>;
constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = kInputs,
     .outputs = kOutput,
     .attrs = kAttrs,
     .infer = infer,
     .eval = eval,
     .error = ErrorBound::elementwise},
};

}  // namespace

extern constinit const OpDef def{.type = "FakeQuantize", .spec = "quantization/fake-quantize", .versions = kVersions};

}  // namespace ovir::ops::fake_quantize
