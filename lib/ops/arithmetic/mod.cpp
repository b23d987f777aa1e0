// Mod: the remainder of the truncated division, with the sign of a.
// Spec: operation-sets/operation-specs/arithmetic/mod-1
#include "op/kit/elementwise.hpp"

namespace ovir::ops::mod {
namespace {

void eval(EvalContext& c) {
  eval_binary<Numbers>(c, []<class T>(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return std::fmod(a, b);
    else if (b == 0) return T{0};  // "the result of division by zero is undefined"
    else if constexpr (std::is_signed_v<T>)
      return static_cast<T>(b == T(-1) ? 0 : a % b);  // the least integer % -1 overflows
    else return static_cast<T>(a % b);
  });
}

constexpr Version kVersions[] = {
    binary_version(1, eval),
};

}  // namespace

extern constinit const OpDef def{.type = "Mod", .spec = "arithmetic/mod", .versions = kVersions};

}  // namespace ovir::ops::mod
