// Divide: a / b; integers are floored, or truncated without m_pythondiv.
// Spec: operation-sets/operation-specs/arithmetic/divide-1
#include "op/kit/elementwise.hpp"

namespace ovir::ops::divide {
namespace {

template <class T>
T quotient(T a, T b, bool floored) {
  if constexpr (std::is_floating_point_v<T>) {
    return a / b;
  } else {
    if (b == 0) return 0;  // "The result of division by zero is undefined"
    if constexpr (std::is_signed_v<T>) {
      if (b == T(-1)) return static_cast<T>(0 - wide(a));  // the least integer / -1 wraps
      return static_cast<T>(a / b - (floored && a % b != 0 && (a < 0) != (b < 0)));
    }
    return static_cast<T>(a / b);
  }
}

void infer(InferContext& c) { c.output(0, broadcast_shape(c, 0, 1, c.attrs<DivideAttrs>().rule())); }

void eval(EvalContext& c) {
  const auto& attrs = c.attrs<DivideAttrs>();
  eval_binary<Numbers>(c, attrs.rule(),
                       [floored = attrs.m_pythondiv]<class T>(T a, T b) { return quotient(a, b, floored); });
}

/// Of a positive divisor. 0 / 0 and inf / inf are bounds that are not reached.
Interval real_bounds(Interval a, Interval b) {
  if (b.lo <= 0) return {};
  const auto ratio = [](double x, double y) { return x == 0 || std::isinf(y) ? 0 : x / y; };
  return {std::min(ratio(a.lo, b.lo), ratio(a.lo, b.hi)), std::max(ratio(a.hi, b.lo), ratio(a.hi, b.hi)),
          b.lo == 1 && b.hi == 1 ? a.symbol : 0};
}

/// Of lengths: a positive divisor, where floor and truncation differ for negative dividends only.
Interval whole_bounds(Interval a, Interval b) {
  if (b.lo < 1 || a.lo < 0) return {};
  return {std::floor(a.lo / b.hi), std::isinf(a.hi) ? a.hi : std::floor(a.hi / b.lo),
          b.lo == 1 && b.hi == 1 ? a.symbol : 0};
}

void bounds(InferContext& c) { bounds_elementwise(c, contains(kInteger, c.type(0)) ? whole_bounds : real_bounds); }

constexpr auto kAttrs = attributes<DivideAttrs, Attr<"auto_broadcast", &DivideAttrs::auto_broadcast>,
                                   Attr<"auto_broadcast.auto_broadcast_axis", &DivideAttrs::auto_broadcast_axis>,
                                   Attr<"m_pythondiv", &DivideAttrs::m_pythondiv>>;

constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = kNumericPair,
     .outputs = kNumericOutput,
     .attrs = kAttrs,
     .infer = infer,
     .eval = eval,
     .bounds = bounds,
     .error = ErrorBound::elementwise},
};

}  // namespace

extern constinit const OpDef def{.type = "Divide", .spec = "arithmetic/divide", .versions = kVersions};

}  // namespace ovir::ops::divide
