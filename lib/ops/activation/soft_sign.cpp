// SoftSign: x / (1 + |x|).
// Spec: operation-sets/operation-specs/activation/softsign-9
#include "op/kit/elementwise.hpp"

namespace ovir::ops::soft_sign {
namespace {

void eval(EvalContext& c) {
  eval_real(c, []<class T>(T x) { return x / (1 + std::abs(x)); });
}

constexpr Version kVersions[] = {
    float_version(9, eval),
};

}  // namespace

extern constinit const OpDef def{.type = "SoftSign", .spec = "activation/softsign", .versions = kVersions};

}  // namespace ovir::ops::soft_sign
