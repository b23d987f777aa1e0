// NormalizeL2: divides each element by the L2 norm of its slice.
// Spec: operation-sets/operation-specs/normalization/normalize-l2-1
#include "op/kit/line_attrs.hpp"
#include "ops/normalization/common.hpp"

namespace ovir::ops::normalize_l2 {
namespace {

using EpsMode = NormalizeL2Eps;
using Attrs = NormalizeL2Attrs;

enum Input { data, axes };

void infer(InferContext& c) { c.output(0, normalization::infer_axes(c, axes)); }

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto& from = c.in(data);
  auto& to = c.out(0);
  if (to.size() == 0) return;
  const auto over = c.ints(axes);
  const normalization::Slices slices(from.shape(), over, c.memory());
  dispatch(to.type(), Floats{}, [&]<class T>() {
    const auto* x = from.data<T>();
    // "If axes is an empty list, then each input element is divided by itself."
    if (over.empty())
      return static_cast<void>(
          std::transform(x, x + from.size(), to.mutable_data<T>(), [](T v) { return v == T{} ? T{} : v / v; }));
    for (const auto start : slices.starts) {
      double sum = 0;
      for (const auto i : slices.offsets) sum += static_cast<double>(x[start + i]) * static_cast<double>(x[start + i]);
      const auto length = std::sqrt(a.eps_mode == EpsMode::add ? sum + a.eps : std::max(sum, a.eps));
      for (const auto i : slices.offsets)
        to.mutable_data<T>()[start + i] = static_cast<T>(static_cast<double>(x[start + i]) / length);
    }
  });
}

constexpr auto kAttrs =
    attributes<Attrs, Attr<"eps", &Attrs::eps, kRequired>, Attr<"eps_mode", &Attrs::eps_mode, kRequired>>;
constexpr Version kVersions[] = {{.since = 1,
                                  .inputs = normalization::kDataAxesInputs,
                                  .outputs = normalization::kOutputs,
                                  .attrs = kAttrs,
                                  .infer = infer,
                                  .reads = ports(axes),
                                  .eval = eval}};

}  // namespace

extern constinit const OpDef def{.type = "NormalizeL2", .spec = "normalization/normalize-l2", .versions = kVersions};

}  // namespace ovir::ops::normalize_l2
