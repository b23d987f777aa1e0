// Slice: data[start:stop:step] along the given axes, by Python's rules.
// Spec: operation-sets/operation-specs/movement/slice-8
#include "ops/movement/common.hpp"

namespace ovir::ops::slice {
namespace {

enum Input { data };

void infer(InferContext& c) { c.output(0, movement::infer_slices(c, 1)); }

void eval(EvalContext& c) {
  const auto& from = c.in(data);
  const auto part = movement::slices_of(c, 1, from.shape());
  gather_strided(from, part.first, part.strides, part.shape, c.out(0));
}

constexpr TypeVar T{"T", kAnyType}, TStart{"T_IND", kInteger}, TStop{"T_IND_STOP", kInteger},
    TStep{"T_IND_STEP", kInteger}, TAxis{"T_AXIS", kInteger};
constexpr PortDef kInputs[] = {
    {"data", T}, {"start", TStart}, {"stop", TStop}, {"step", TStep}, {"axes", TAxis, Arity::optional}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr Version kVersions[] = {
    {.since = 8,
     .inputs = kInputs,
     .outputs = kOutputs,
     .infer = infer,
     .reads = ports(1, 2, 3, 4),
     .eval = eval,
     .lift = Lift::moves,
     .bounds = bounds_by_moving},
};

}  // namespace

extern constinit const OpDef def{.type = "Slice", .spec = "movement/slice", .versions = kVersions};

}  // namespace ovir::ops::slice
