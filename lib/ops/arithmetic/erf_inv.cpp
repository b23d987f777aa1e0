// ErfInv: the y for which erf(y) = x.
// Spec: operation-sets/operation-specs/arithmetic/erfinv-17
#include <numbers>

#include "op/kit/elementwise.hpp"

namespace ovir::ops::erf_inv {
namespace {

/// Winitzki's closed approximation (within 0.4 %), then Newton's steps on erf, or near 1 on erfc, which keeps its
/// digits there.
double erf_inv(double x) {
  if (!(std::abs(x) < 1))
    return std::abs(x) == 1 ? x * std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  if (x == 0) return x;
  const double p = std::abs(x), rest = 1 - p;
  constexpr double a = 0.147;
  const double l = std::log1p(-p * p), h = 2 / (std::numbers::pi * a) + l / 2;
  double y = std::sqrt(std::sqrt(h * h - l / a) - h);
  for (int step = 0; step < 4; ++step) {
    const double error = p < 0.5 ? std::erf(y) - p : rest - std::erfc(y);
    y -= error / (2 * std::numbers::inv_sqrtpi * std::exp(-y * y));
  }
  return std::copysign(y, x);
}

void eval(EvalContext& c) {
  eval_real(c, []<class T>(T x) { return static_cast<T>(erf_inv(static_cast<double>(x))); });
}

constexpr Version kVersions[] = {
    float_version(17, eval),
};

}  // namespace

extern constinit const OpDef def{.type = "ErfInv", .spec = "arithmetic/erfinv", .versions = kVersions};

}  // namespace ovir::ops::erf_inv
