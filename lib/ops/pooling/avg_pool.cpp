// AvgPool: the mean of the elements under each window.
// Spec: operation-sets/operation-specs/pooling/avg-pool-16
#include "op/kit/accumulate.hpp"
#include "ops/pooling/common.hpp"

namespace ovir::ops::avg_pool {
namespace {

void infer(InferContext& c) { c.output(0, pooling::infer_windows(c)); }

void eval(EvalContext& c) {
  const auto& a = c.attrs<PoolAttrs>();
  const auto& data = c.in(0);
  auto& out = c.out(0);
  if (out.size() == 0) return;
  const pooling::Problem p(a, data.shape(), out.shape(), c.memory());
  bool padded = false;
  for (const auto& w : p.axis) padded = padded || w.pad_begin != 0 || w.pad_end != 0;

  dispatch(out.type(), Numbers{}, [&]<class T>() {
    // Integers are summed modulo 2^64.
    using Wide = std::conditional_t<std::is_signed_v<T>, i64, std::uint64_t>;
    using Sum = std::conditional_t<std::is_integral_v<T>, Wide, T>;
    const auto* from = data.data<T>();
    auto* to = out.mutable_data<T>();
    for (i64 plane = 0; plane < p.planes; ++plane, from += p.in[0] * p.in[1] * p.in[2]) {
      Sum sum{};
      pooling::each_window(
          p, [&] { sum = {}; }, [&](i64 i) { sum = multiply_add(sum, Sum{1}, static_cast<Sum>(from[i])); },
          [&](const auto& z, const auto& y, const auto& x) {
            const auto inside = (z.to - z.from) * (y.to - y.from) * (x.to - x.from);
            // With the padding counted, a window that the rounding lets reach past it is still divided by the whole
            // kernel; where there is no padding at all, only what lies in the data counts.
            const auto counted = a.exclude_pad || !padded ? inside : p.kernel_size();
            // A window wholly in the padding has nothing to average: 0.
            if (counted == 0) *to++ = T{};
            else if constexpr (std::is_integral_v<T> && sizeof(T) == 1)  // 8-bit images are rounded, others cut off
              *to++ = static_cast<T>(std::llrint(static_cast<double>(sum) / static_cast<double>(counted)));
            else *to++ = static_cast<T>(sum / static_cast<Sum>(counted));
          });
    }
  });
}

i64 terms(const Version& version, const void* attrs, std::span<const Shape>) {
  i64 n = 1;
  for (const auto length : version.attrs.as<PoolAttrs>(attrs).kernel) n *= length;
  return n;
}

using A = PoolAttrs;
constexpr PortDef kOutputs[] = {{"output", pooling::T}};
template <class RoundingType, class... More>
constexpr auto kAttrs =
    attributes<A, Attr<"strides", &A::strides, kRequired>, Attr<"pads_begin", &A::pads_begin, kRequired>,
               Attr<"pads_end", &A::pads_end, kRequired>, Attr<"kernel", &A::kernel, kRequired>,
               Attr<"exclude-pad", &A::exclude_pad, kRequired>, RoundingType, Attr<"auto_pad", &A::auto_pad>, More...>;

consteval Version version(int since, AttributeTable attrs) {
  return {.since = since,
          .inputs = pooling::kInputs,
          .outputs = kOutputs,
          .attrs = attrs,
          .infer = infer,
          .eval = eval,
          .error = ErrorBound::sums,
          .terms = terms,
          .steps = pooling::window_steps};
}
constexpr Version kVersions[] = {
    version(1, kAttrs<pooling::RoundingType1>),
    version(14, kAttrs<pooling::RoundingType14>),
    version(16, kAttrs<pooling::RoundingType14, Attr<"dilations", &A::dilations>>),
};

}  // namespace

extern constinit const OpDef def{.type = "AvgPool", .spec = "pooling/avg-pool", .versions = kVersions};

}  // namespace ovir::ops::avg_pool
