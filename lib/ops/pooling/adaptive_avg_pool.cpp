// AdaptiveAvgPool: the mean of windows that are laid so that the output has the size asked for.
// Spec: operation-sets/operation-specs/pooling/adaptive-avg-pool-8
#include "ops/pooling/common.hpp"

namespace ovir::ops::adaptive_avg_pool {
namespace {

enum Input { data, output_shape };

void infer(InferContext& c) { c.output(0, pooling::infer_adaptive(c)); }

void eval(EvalContext& c) {
  const auto& from = c.in(data);
  auto& out = c.out(0);
  if (out.size() == 0) return;
  const auto p = pooling::adaptive_problem(from.shape(), out.shape(), c.memory());
  dispatch(out.type(), Floats{}, [&]<class T>() {
    const auto* x = from.data<T>();
    auto* to = out.mutable_data<T>();
    for (i64 plane = 0; plane < p.planes; ++plane, x += p.in[0] * p.in[1] * p.in[2]) {
      T sum{};
      pooling::each_window(
          p, [&] { sum = {}; }, [&](i64 i) { sum += x[i]; },
          [&](const auto& z, const auto& y, const auto& w) { *to++ = sum / static_cast<T>(z.to * y.to * w.to); });
    }
  });
}

constexpr TypeVar T{"T", kFloat}, TShape{"T_SHAPE", kIndex};
constexpr PortDef kInputs[] = {{"data", T}, {"output_shape", TShape}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr Version kVersions[] = {{.since = 8,
                                  .inputs = kInputs,
                                  .outputs = kOutputs,
                                  .infer = infer,
                                  .reads = ports(output_shape),
                                  .eval = eval,
                                  .steps = pooling::adaptive_steps}};

}  // namespace

extern constinit const OpDef def{.type = "AdaptiveAvgPool", .spec = "pooling/adaptive-avg-pool", .versions = kVersions};

}  // namespace ovir::ops::adaptive_avg_pool
