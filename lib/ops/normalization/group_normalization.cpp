// GroupNormalization: standardizes each group of channels, then scales and shifts channel by channel.
// Spec: operation-sets/operation-specs/normalization/group-normalization-12
#include <numeric>

#include "op/kit/group_normalization_attrs.hpp"
#include "ops/normalization/common.hpp"

namespace ovir::ops::group_normalization {
namespace {

enum Input { data, scale, bias };

using Attrs = GroupNormalizationAttrs;

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  c.require_attr(a.num_groups > 0, "num_groups", "must be positive, but is {}", a.num_groups);
  c.require_rank_at_least(data, 2);
  c.require_rank(scale, 1);
  c.require_rank(bias, 1);
  const auto& x = c.shape(data);
  auto channels = x.dim(1);
  for (const auto port : {scale, bias})
    if (c.shape(port).has_rank())
      channels = c.require_same_dim(channels, c.shape(port)[0], port, "the number of channels of \"data\"",
                                    fmt::format("the number of elements of \"{}\"", c.port_name(port)));
  if (channels.is_static())
    c.require_attr(channels.length() % a.num_groups == 0, "num_groups",
                   "must divide the {0} channels of \"data\", but is {1}", channels.length(), a.num_groups);
  auto out = x;
  if (out.has_rank()) out[1] = channels;
  c.output(0, std::move(out));
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto& from = c.in(data);
  auto& to = c.out(0);
  if (to.size() == 0) return;
  const auto channels = from.dim(1), plane = from.size() / (from.dim(0) * channels),
             group = channels / a.num_groups * plane;
  std::pmr::vector<i64> offsets(group, c.memory());
  std::iota(offsets.begin(), offsets.end(), 0);
  const auto &factors = c.in(scale), &shifts = c.in(bias);
  dispatch(to.type(), Floats{}, [&]<class T>() {
    auto* y = to.mutable_data<T>();
    for (i64 start = 0; start < from.size(); start += group)
      normalization::standardize(from.data<T>(), y, start, offsets,
                                 [&](double variance) { return 1 / std::sqrt(variance + a.epsilon); });
    for (i64 i = 0; i < from.size(); ++i) {
      const auto channel = i / plane % channels;
      y[i] = factors.data<T>()[channel] * y[i] + shifts.data<T>()[channel];
    }
  });
}

constexpr PortDef kInputs[] = {{"data", normalization::T}, {"scale", normalization::T}, {"bias", normalization::T}};
constexpr auto kAttrs =
    attributes<Attrs, Attr<"num_groups", &Attrs::num_groups, kRequired>, Attr<"epsilon", &Attrs::epsilon, kRequired>>;
constexpr Version kVersions[] = {{.since = 12,
                                  .inputs = kInputs,
                                  .outputs = normalization::kOutputs,
                                  .attrs = kAttrs,
                                  .infer = infer,
                                  .eval = eval}};

}  // namespace

extern constinit const OpDef def{
    .type = "GroupNormalization", .spec = "normalization/group-normalization", .versions = kVersions};

}  // namespace ovir::ops::group_normalization
