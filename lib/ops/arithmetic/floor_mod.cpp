// FloorMod: the remainder of the floored division, with the sign of b.
// Spec: operation-sets/operation-specs/arithmetic/floormod-1
#include "op/kit/elementwise.hpp"

namespace ovir::ops::floor_mod {
namespace {

void eval(EvalContext& c) {
  eval_binary<Numbers>(c, []<class T>(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      const T r = std::fmod(a, b);
      return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    } else if (b == 0) {
      return T{0};  // "the result of division by zero is undefined"
    } else if constexpr (std::is_signed_v<T>) {
      const T r = static_cast<T>(b == T(-1) ? 0 : a % b);  // the least integer % -1 overflows
      return static_cast<T>(r != 0 && (r < 0) != (b < 0) ? r + b : r);
    } else {
      return static_cast<T>(a % b);
    }
  });
}

constexpr Version kVersions[] = {
    binary_version(1, eval),
};

}  // namespace

extern constinit const OpDef def{.type = "FloorMod", .spec = "arithmetic/floormod", .versions = kVersions};

}  // namespace ovir::ops::floor_mod
