// ReduceL1: the sum of the absolute values along the axes.
// Spec: operation-sets/operation-specs/reduction/reduce-l1-4
#include "op/kit/reduce.hpp"

namespace ovir::ops::reduce_l1 {
namespace {

void eval(EvalContext& c) {
  dispatch(c.in(kReduceData).type(), Numbers{}, [&]<class T>() {
    using A = Accumulator<T>;
    const auto add = [](A sum, T x) { return x < 0 ? sum - static_cast<A>(x) : sum + static_cast<A>(x); };
    reduce_into<T, A>(c, A{0}, add, [](A sum, i64) { return sum; });
  });
}

constexpr Version kVersions[] = {
    reduce_version(4, eval),
};

}  // namespace

extern constinit const OpDef def{.type = "ReduceL1", .spec = "reduction/reduce-l1", .versions = kVersions};

}  // namespace ovir::ops::reduce_l1
