// HSwish: x · min(max(x + 3, 0), 6) / 6.
// Spec: operation-sets/operation-specs/activation/hswish-4
#include "op/kit/elementwise.hpp"

namespace ovir::ops::h_swish {
namespace {

void eval(EvalContext& c) {
  eval_real(c, []<class T>(T x) { return x * std::min(std::max(x + 3, T{0}), T{6}) / 6; });
}

constexpr Version kVersions[] = {
    float_version(4, eval),
};

}  // namespace

extern constinit const OpDef def{.type = "HSwish", .spec = "activation/hswish", .versions = kVersions};

}  // namespace ovir::ops::h_swish
