// Identity: the input itself.
// Spec: operation-sets/operation-specs/activation/identity-16
#include "op/kit/elementwise.hpp"

namespace ovir::ops::identity {
namespace {

void eval(EvalContext& c) { c.set_out(0, c.in(0)); }

constexpr TypeVar T{"T", kAnyType};
constexpr PortDef kInput[] = {{"data", T}}, kOutput[] = {{"output", T}};

constexpr Version kVersions[] = {
    {.since = 16,
     .inputs = kInput,
     .outputs = kOutput,
     .infer = infer_unary,
     .eval = eval,
     .lift = Lift::moves,
     .bounds = bounds_by_moving},
};

}  // namespace

extern constinit const OpDef def{.type = "Identity", .spec = "activation/identity", .versions = kVersions};

}  // namespace ovir::ops::identity
