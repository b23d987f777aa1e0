// ReduceProd: the product of the elements along the axes; integers wrap.
// Spec: operation-sets/operation-specs/reduction/reduce-prod-1
#include "op/kit/elementwise.hpp"
#include "op/kit/reduce.hpp"

namespace ovir::ops::reduce_prod {
namespace {

void eval(EvalContext& c) {
  dispatch(c.in(kReduceData).type(), Numbers{}, [&]<class T>() {
    using A = Accumulator<T>;
    reduce_into<T, A>(
        c, A{1}, [](A product, T x) { return product * static_cast<A>(x); }, [](A product, i64) { return product; });
  });
}

void bounds(InferContext& c) {
  bounds_reduce(c, {1, 1}, [](Interval a, Interval b) { return a * b; });
}

constexpr Version kVersions[] = {
    reduce_version(1, eval, bounds),
};

}  // namespace

extern constinit const OpDef def{.type = "ReduceProd", .spec = "reduction/reduce-prod", .versions = kVersions};

}  // namespace ovir::ops::reduce_prod
