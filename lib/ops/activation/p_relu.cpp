// PRelu: x where x ≥ 0, else slope · x.
// Spec: operation-sets/operation-specs/activation/prelu-1
#include "op/kit/elementwise.hpp"

namespace ovir::ops::p_relu {
namespace {

enum Input { data, slope };

/// Model Optimizer left slopes in f32 when it compressed a model to f16.
constexpr TypeVar TSlope{"T_SLOPE", kFloat};

/// "If slope input rank is 1 and its dimension is equal to the second dimension of data input, then per channel
/// broadcast is applied. Otherwise slope input is broadcasted with numpy rules."
void infer(InferContext& c) {
  auto x = c.shape(data);
  const auto& s = c.shape(slope);
  const bool channels = x.has_rank() && s.has_rank() && s.rank() == 1 && x.rank() > 1 && s[0].compatible(x[1]);
  if (!channels) require_broadcast_into(c, slope, x);
  c.output(0, std::move(x));
}

void eval(EvalContext& c) {
  const auto& x = c.in(data);
  auto s = c.in(slope).type() == x.type() ? c.in(slope) : convert(c.in(slope), x.type());
  if (s.rank() == 1 && x.rank() > 1 && s.dim(0) == x.dim(1)) {
    Shape channel(x.rank(), 1);
    channel[1] = s.dim(0);
    s = s.reshaped(std::move(channel));
  } else if (s.rank() > x.rank()) {
    s = s.reshaped(Shape(s.shape().end() - x.rank(), s.shape().end()));
  }
  auto& out = c.out(0);
  dispatch(x.type(), Floats{},
           [&]<class T>() { broadcast_binary<T, T, T>(x, s, out, [](T v, T a) { return v < 0 ? v * a : v; }); });
}

constexpr PortDef kInputs[] = {{"data", kFloatT}, {"slope", TSlope}};

constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = kInputs,
     .outputs = kFloatOutput,
     .infer = infer,
     .eval = eval,
     .error = ErrorBound::elementwise},
};

}  // namespace

extern constinit const OpDef def{.type = "PRelu", .spec = "activation/prelu", .versions = kVersions};

}  // namespace ovir::ops::p_relu
