// ReduceSum: the sum of the elements along the axes; integers wrap.
// Spec: operation-sets/operation-specs/reduction/reduce-sum-1
#include "op/kit/elementwise.hpp"
#include "op/kit/reduce.hpp"

namespace ovir::ops::reduce_sum {
namespace {

void eval(EvalContext& c) {
  dispatch(c.in(kReduceData).type(), Numbers{}, [&]<class T>() {
    using A = Accumulator<T>;
    reduce_into<T, A>(
        c, A{0}, [](A sum, T x) { return sum + static_cast<A>(x); }, [](A sum, i64) { return sum; });
  });
}

void bounds(InferContext& c) {
  bounds_reduce(c, {0, 0}, [](Interval a, Interval b) { return a + b; });
}

constexpr Version kVersions[] = {
    reduce_version(1, eval, bounds),
};

}  // namespace

extern constinit const OpDef def{.type = "ReduceSum", .spec = "reduction/reduce-sum", .versions = kVersions};

}  // namespace ovir::ops::reduce_sum
