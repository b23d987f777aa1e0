// BatchNormInference: standardizes each channel with the given mean and variance, then scales and shifts it.
// Spec: operation-sets/operation-specs/normalization/batch-norm-inference-5
#include "op/kit/batch_normalization_attrs.hpp"
#include "ops/normalization/common.hpp"

namespace ovir::ops::batch_norm_inference {
namespace {

/// Version 1 has the data as third input, version 5 as first.
struct Ports {
  int data, gamma, beta, mean, variance;
};
constexpr Ports kPorts1{2, 0, 1, 3, 4}, kPorts5{0, 1, 2, 3, 4};

void infer_ports(InferContext& c, const Ports& p) {
  c.require_attr(c.attrs<BatchNormalizationAttrs>().epsilon >= 0, "epsilon", "must not be negative, but is {}",
                 c.attrs<BatchNormalizationAttrs>().epsilon);
  c.require_rank_at_least(p.data, 2);
  auto out = c.shape(p.data);
  auto channels = out.dim(1);
  for (const auto port : {p.gamma, p.beta, p.mean, p.variance}) {
    c.require_rank(port, 1);
    if (c.shape(port).has_rank())
      channels = c.require_same_dim(channels, c.shape(port)[0], port, "the number of channels of \"data\"",
                                    fmt::format("the number of elements of \"{}\"", c.port_name(port)));
  }
  if (out.has_rank()) out[1] = channels;
  c.output(0, std::move(out));
}

void eval_ports(EvalContext& c, const Ports& p) {
  const auto epsilon = c.attrs<BatchNormalizationAttrs>().epsilon;
  const auto& from = c.in(p.data);
  auto& to = c.out(0);
  if (to.size() == 0) return;
  const auto channels = from.dim(1), plane = from.size() / (from.dim(0) * channels);
  const auto &gamma = c.in(p.gamma), &beta = c.in(p.beta), &mean = c.in(p.mean), &variance = c.in(p.variance);
  dispatch(to.type(), Floats{}, [&]<class T>() {
    for (i64 row = 0; row < from.size() / plane; ++row) {
      const auto channel = row % channels;
      const auto factor = static_cast<T>(static_cast<double>(gamma.data<T>()[channel]) /
                                         std::sqrt(static_cast<double>(variance.data<T>()[channel]) + epsilon));
      const auto* x = from.data<T>() + row * plane;
      auto* y = to.mutable_data<T>() + row * plane;
      for (i64 i = 0; i < plane; ++i) y[i] = (x[i] - mean.data<T>()[channel]) * factor + beta.data<T>()[channel];
    }
  });
}

void infer1(InferContext& c) { infer_ports(c, kPorts1); }
void infer5(InferContext& c) { infer_ports(c, kPorts5); }
void eval1(EvalContext& c) { eval_ports(c, kPorts1); }
void eval5(EvalContext& c) { eval_ports(c, kPorts5); }

using normalization::T;
constexpr PortDef kInputs1[] = {{"gamma", T}, {"beta", T}, {"data", T}, {"mean", T}, {"variance", T}};
constexpr PortDef kInputs5[] = {{"data", T}, {"gamma", T}, {"beta", T}, {"mean", T}, {"variance", T}};
constexpr auto kAttrs =
    attributes<BatchNormalizationAttrs, Attr<"epsilon", &BatchNormalizationAttrs::epsilon, kRequired>>;
constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = kInputs1,
     .outputs = normalization::kOutputs,
     .attrs = kAttrs,
     .infer = infer1,
     .eval = eval1,
     .error = ErrorBound::elementwise},
    {.since = 5,
     .inputs = kInputs5,
     .outputs = normalization::kOutputs,
     .attrs = kAttrs,
     .infer = infer5,
     .eval = eval5,
     .error = ErrorBound::elementwise},
};

}  // namespace

extern constinit const OpDef def{
    .type = "BatchNormInference", .spec = "normalization/batch-norm-inference", .versions = kVersions};

}  // namespace ovir::ops::batch_norm_inference
