// GRN: divides each element by the L2 norm across channels.
// Spec: operation-sets/operation-specs/normalization/grn-1
#include "op/kit/line_attrs.hpp"
#include "ops/normalization/common.hpp"

namespace ovir::ops::grn {
namespace {

void infer(InferContext& c) {
  c.require_rank(0, 2, 4);
  c.output(0, c.shape(0));
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<GrnAttrs>();
  const auto& from = c.in(0);
  auto& to = c.out(0);
  if (to.size() == 0) return;
  const normalization::Slices channels(from.shape(), {1}, c.memory());
  dispatch(to.type(), Floats{}, [&]<class T>() {
    const auto* x = from.data<T>();
    for (const auto start : channels.starts) {
      double sum = a.bias;
      for (const auto i : channels.offsets)
        sum += static_cast<double>(x[start + i]) * static_cast<double>(x[start + i]);
      for (const auto i : channels.offsets)
        to.mutable_data<T>()[start + i] = static_cast<T>(static_cast<double>(x[start + i]) / std::sqrt(sum));
    }
  });
}

constexpr auto kAttrs = attributes<GrnAttrs, Attr<"bias", &GrnAttrs::bias, kRequired>>;
constexpr Version kVersions[] = {{.since = 1,
                                  .inputs = normalization::kDataInput,
                                  .outputs = normalization::kOutputs,
                                  .attrs = kAttrs,
                                  .infer = infer,
                                  .eval = eval}};

}  // namespace

extern constinit const OpDef def{.type = "GRN", .spec = "normalization/grn", .versions = kVersions};

}  // namespace ovir::ops::grn
