// CumSum: sums of the elements up to each one along an axis.
// Spec: operation-sets/operation-specs/arithmetic/cumsum-3
#include "op/kit/elementwise.hpp"
#include "op/kit/line_attrs.hpp"

namespace ovir::ops::cum_sum {
namespace {

enum Input { data, axis };

using Attrs = CumSumAttrs;

void infer(InferContext& c) {
  c.require_rank_at_least(data, 1);
  if (c.has(axis)) c.require_single(axis);
  if (const auto known = c.scalar_int(axis); known && c.shape(data).has_rank())
    c.require_axis(*known, axis, c.shape(data).rank());
  c.output(0, c.shape(data));
}

void eval(EvalContext& c) {
  const auto& attrs = c.attrs<Attrs>();
  const auto& from = c.in(data);
  auto& to = c.out(0);
  if (from.size() == 0) return;
  const auto along = c.has(axis) ? c.scalar_int(axis) : 0;
  const AxisView view(from.shape(), along < 0 ? along + from.rank() : along);
  dispatch(from.type(), Numbers{} + Boolean{}, [&]<class T>() {
    // Floats are summed in f64, integers modulo 2^bits, booleans counted in their bytes.
    using Sum = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;
    for (i64 line = 0; line < view.lines(); ++line) {
      const auto start = view.line(line);
      Sum sum = 0;
      for (i64 k = 0; k < view.length; ++k) {
        const auto i = start + (attrs.reverse ? view.length - 1 - k : k) * view.inner;
        const auto before = sum;
        sum += static_cast<Sum>(from.data<T>()[i]);
        to.mutable_data<T>()[i] = static_cast<T>(attrs.exclusive ? before : sum);
      }
    }
  });
}

constexpr auto kAttrs = attributes<Attrs, Attr<"exclusive", &Attrs::exclusive>, Attr<"reverse", &Attrs::reverse>>;
constexpr TypeVar T{"T", kNumeric | kBoolean};
constexpr PortDef kInputs[] = {{"data", T}, {"axis", {"T_AXIS", kIndex}, Arity::optional}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr Version kVersions[] = {
    {.since = 3,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = kAttrs,
     .infer = infer,
     .reads = ports(axis),
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "CumSum", .spec = "arithmetic/cumsum", .versions = kVersions};

}  // namespace ovir::ops::cum_sum
