// SoftPlus: log(exp(x) + 1), a smooth ReLU.
// Spec: operation-sets/operation-specs/activation/softplus-4
#include "op/kit/elementwise.hpp"

namespace ovir::ops::soft_plus {
namespace {

void eval(EvalContext& c) {
  // "reverts to the linear function when x > threshold … if T is fp32, threshold should be 20"; f16 comes as f32.
  eval_real(c, []<class T>(T x) {
    constexpr T threshold = std::is_same_v<T, float> ? 20 : 37;
    return x > threshold ? x : std::log1p(std::exp(x));
  });
}

constexpr Version kVersions[] = {
    float_version(4, eval),
};

}  // namespace

extern constinit const OpDef def{.type = "SoftPlus", .spec = "activation/softplus", .versions = kVersions};

}  // namespace ovir::ops::soft_plus
