// ReduceMin: the least element along the axes; NaN where there is one.
// Spec: operation-sets/operation-specs/reduction/reduce-min-1
#include "op/kit/elementwise.hpp"
#include "op/kit/reduce.hpp"

namespace ovir::ops::reduce_min {
namespace {

void eval(EvalContext& c) {
  dispatch(c.in(kReduceData).type(), Numbers{}, [&]<class T>() {
    const auto pick = [](T best, T x) {
      if constexpr (std::is_floating_point_v<T>)
        if (std::isnan(best)) return best;
      return x < best || x != x ? x : best;
    };
    // Of no elements: the neutral one, infinity for floats.
    const auto none = std::is_floating_point_v<T> ? static_cast<T>(INFINITY) : highest<T>(c.stored(kReduceData).type());
    reduce_into<T, T>(c, none, pick, [](T best, i64) { return best; });
  });
}

void bounds(InferContext& c) {
  constexpr auto kNone = std::numeric_limits<double>::infinity();
  bounds_reduce(c, {kNone, kNone}, [](Interval a, Interval b) { return min(a, b); });
}

constexpr Version kVersions[] = {
    reduce_version(1, eval, bounds),
};

}  // namespace

extern constinit const OpDef def{.type = "ReduceMin", .spec = "reduction/reduce-min", .versions = kVersions};

}  // namespace ovir::ops::reduce_min
