// ReduceL2: the square root of the sum of squares along the axes; of integers rounded to the nearest.
// Spec: operation-sets/operation-specs/reduction/reduce-l2-4
#include "op/kit/reduce.hpp"

namespace ovir::ops::reduce_l2 {
namespace {

void eval(EvalContext& c) {
  dispatch(c.in(kReduceData).type(), Numbers{}, [&]<class T>() {
    const auto add = [](double sum, T x) { return sum + static_cast<double>(x) * static_cast<double>(x); };
    reduce_into<T, double>(c, 0.0, add, [](double sum, i64) {
      const auto norm = std::sqrt(sum);
      if constexpr (std::is_floating_point_v<T>) return norm;
      else return static_cast<std::uint64_t>(std::min(std::round(norm), 0x1p63));
    });
  });
}

constexpr Version kVersions[] = {
    reduce_version(4, eval),
};

}  // namespace

extern constinit const OpDef def{.type = "ReduceL2", .spec = "reduction/reduce-l2", .versions = kVersions};

}  // namespace ovir::ops::reduce_l2
