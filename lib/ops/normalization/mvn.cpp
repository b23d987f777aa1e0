// MVN: shifts slices of the data to mean 0 and, if asked, scales them to variance 1.
// Spec: operation-sets/operation-specs/normalization/mvn-1, mvn-6
#include <numeric>

#include "op/shared_attrs.hpp"
#include "ops/normalization/common.hpp"

namespace ovir::ops::mvn {
namespace {

enum Input { data, axes };

void infer(InferContext& c) { c.output(0, normalization::infer_axes(c, axes)); }

void infer1(InferContext& c) {
  const auto& a = c.attrs<MvnAttrs>();
  if (a.reduction_axes && c.shape(data).has_rank())
    normalization::require_unique_axes(c, *a.reduction_axes, -1, c.shape(data).rank(), "reduction_axes");
  c.output(0, c.shape(data));
}

void normalize(EvalContext& c, std::span<const i64> over) {
  const auto& a = c.attrs<MvnAttrs>();
  const auto& from = c.in(data);
  auto& to = c.out(0);
  if (to.size() == 0) return;
  const normalization::Slices slices(from.shape(), over, c.memory());
  const auto scale = [&](double variance) {
    if (!a.normalize_variance) return 1.0;
    return 1 / (a.eps_mode == MvnEps::inside_sqrt ? std::sqrt(variance + a.eps) : std::sqrt(variance) + a.eps);
  };
  dispatch(to.type(), Floats{}, [&]<class T>() {
    for (const auto start : slices.starts)
      normalization::standardize(from.data<T>(), to.mutable_data<T>(), start, slices.offsets, scale);
  });
}

void eval(EvalContext& c) { normalize(c, c.ints(axes)); }

void eval1(EvalContext& c) {
  const auto& a = c.attrs<MvnAttrs>();
  const auto rank = c.in(data).rank();
  // A file may hold both attributes; the axes are the more precise one, unless there are none.
  if (a.reduction_axes && !a.reduction_axes->empty()) return normalize(c, *a.reduction_axes);
  Shape over(std::max<i64>(0, rank - (a.across_channels ? 1 : 2)));
  std::iota(over.begin(), over.end(), a.across_channels ? 1 : 2);
  normalize(c, over);
}

using A = MvnAttrs;
constexpr auto kAttrs1 =
    attributes<A, Attr<"across_channels", &A::across_channels>, Attr<"reduction_axes", &A::reduction_axes>,
               Attr<"normalize_variance", &A::normalize_variance, kRequired>, Attr<"eps", &A::eps, kRequired>>;
constexpr auto kAttrs6 = attributes<A, Attr<"normalize_variance", &A::normalize_variance, kRequired>,
                                    Attr<"eps", &A::eps, kRequired>, Attr<"eps_mode", &A::eps_mode, kRequired>>;
constexpr PortDef kInputs6[] = {{"data", normalization::T}, {"axes", {"T_IND", kIndex}}};
constexpr Version kVersions[] = {
    {.since = 2,
     .spec = "normalization/mvn-1",
     .inputs = normalization::kDataInput,
     .outputs = normalization::kOutputs,
     .attrs = kAttrs1,
     .infer = infer1,
     .eval = eval1},
    {.since = 6,
     .inputs = kInputs6,
     .outputs = normalization::kOutputs,
     .attrs = kAttrs6,
     .infer = infer,
     .reads = ports(axes),
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "MVN", .spec = "normalization/mvn", .versions = kVersions};

}  // namespace ovir::ops::mvn
