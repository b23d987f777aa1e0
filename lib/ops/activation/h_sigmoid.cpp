// HSigmoid: min(max(x + 3, 0), 6) / 6.
// Spec: operation-sets/operation-specs/activation/hsigmoid-5
#include "op/kit/elementwise.hpp"

namespace ovir::ops::h_sigmoid {
namespace {

void eval(EvalContext& c) {
  eval_real(c, []<class T>(T x) { return std::min(std::max(x + 3, T{0}), T{6}) / 6; });
}

constexpr Version kVersions[] = {
    float_version(5, eval),
};

}  // namespace

extern constinit const OpDef def{.type = "HSigmoid", .spec = "activation/hsigmoid", .versions = kVersions};

}  // namespace ovir::ops::h_sigmoid
