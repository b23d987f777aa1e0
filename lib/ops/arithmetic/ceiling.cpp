// Ceiling: the least integer that is not below x.
// Spec: operation-sets/operation-specs/arithmetic/ceiling-1
#include "ops/arithmetic/common.hpp"

namespace ovir::ops::ceiling {
namespace {

constexpr auto whole = [](auto x) { return std::ceil(x); };

constexpr Version kVersions[] = {
    unary_version(1, arithmetic::eval_whole<whole>, arithmetic::bounds_whole<whole>),
};

}  // namespace

extern constinit const OpDef def{.type = "Ceiling", .spec = "arithmetic/ceiling", .versions = kVersions};

}  // namespace ovir::ops::ceiling
