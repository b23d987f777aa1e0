// Abs: |x|.
// Spec: operation-sets/operation-specs/arithmetic/abs-1
#include "op/kit/elementwise.hpp"

namespace ovir::ops::abs {
namespace {

void eval(EvalContext& c) {
  eval_unary<Numbers>(c, []<class T>(T x) {
    if constexpr (std::is_unsigned_v<T>) return x;
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(x < 0 ? 0 - wide(x) : wide(x));  // the least integer stays
    else return std::abs(x);
  });
}

constexpr Version kVersions[] = {
    unary_version(1, eval),
};

}  // namespace

extern constinit const OpDef def{.type = "Abs", .spec = "arithmetic/abs", .versions = kVersions};

}  // namespace ovir::ops::abs
