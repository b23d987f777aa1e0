// ReduceMean: the arithmetic mean of the elements along the axes; of integers truncated.
// Spec: operation-sets/operation-specs/reduction/reduce-mean-1
#include "op/kit/reduce.hpp"

namespace ovir::ops::reduce_mean {
namespace {

void eval(EvalContext& c) {
  dispatch(c.in(kReduceData).type(), Numbers{}, [&]<class T>() {
    using A = Accumulator<T>;
    reduce_into<T, A>(
        c, A{0}, [](A sum, T x) { return sum + static_cast<A>(x); },
        [](A sum, i64 count) {
          if (count == 0) return T{0};  // the mean of nothing, as OpenVINO has it
          if constexpr (std::is_floating_point_v<T>) return static_cast<T>(sum / static_cast<double>(count));
          else if constexpr (std::is_signed_v<T>) return static_cast<T>(static_cast<i64>(sum) / count);
          else return static_cast<T>(sum / static_cast<std::uint64_t>(count));
        });
  });
}

constexpr Version kVersions[] = {
    reduce_version(1, eval),
};

}  // namespace

extern constinit const OpDef def{.type = "ReduceMean", .spec = "reduction/reduce-mean", .versions = kVersions};

}  // namespace ovir::ops::reduce_mean
