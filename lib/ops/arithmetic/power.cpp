// Power: a to the power of b.
// Spec: operation-sets/operation-specs/arithmetic/power-1
#include "op/kit/elementwise.hpp"

namespace ovir::ops::power {
namespace {

/// Integers by repeated squaring modulo 2^bits; a negative exponent gives what 1 / a^-b truncates to (0 for a = 0).
template <class T>
T power(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::pow(a, b);
  } else {
    if constexpr (std::is_signed_v<T>)
      if (b < 0) {
        if (a != 1 && a != T(-1)) return 0;
        return b % 2 == 0 ? T(1) : a;
      }
    std::uint64_t result = 1, square = wide(a);
    for (auto bits = wide(b); bits != 0; bits >>= 1, square *= square)
      if (bits & 1) result *= square;
    return static_cast<T>(result);
  }
}

void eval(EvalContext& c) {
  eval_binary<Numbers>(c, []<class T>(T a, T b) { return power(a, b); });
}

constexpr Version kVersions[] = {
    binary_version(1, eval),
};

}  // namespace

extern constinit const OpDef def{.type = "Power", .spec = "arithmetic/power", .versions = kVersions};

}  // namespace ovir::ops::power
