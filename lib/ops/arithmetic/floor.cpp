// Floor: the greatest integer that is not above x.
// Spec: operation-sets/operation-specs/arithmetic/floor-1
#include "ops/arithmetic/common.hpp"

namespace ovir::ops::floor {
namespace {

constexpr auto whole = [](auto x) { return std::floor(x); };

constexpr Version kVersions[] = {
    unary_version(1, arithmetic::eval_whole<whole>, arithmetic::bounds_whole<whole>),
};

}  // namespace

extern constinit const OpDef def{.type = "Floor", .spec = "arithmetic/floor", .versions = kVersions};

}  // namespace ovir::ops::floor
