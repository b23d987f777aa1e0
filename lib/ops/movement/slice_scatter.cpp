// SliceScatter: a copy of data in which updates takes the place of data[start:stop:step].
// Spec: operation-sets/operation-specs/movement/slice-scatter-15
#include "ops/movement/common.hpp"

namespace ovir::ops::slice_scatter {
namespace {

enum Input { data, updates };

void infer(InferContext& c) {
  // "updates: shape equal to that of the slice of data"; a scalar or broadcastable one is not.
  const auto slice = movement::infer_slices(c, 2);
  c.require(slice.compatible(c.shape(updates)), updates, Code::E0505,
            "input \"updates\" of SliceScatter must have the shape of the slice, {1}, but its shape is {0}",
            to_string(c.shape(updates)), to_string(slice));
  c.output(0, c.shape(data));
}

void eval(EvalContext& c) {
  const auto& from = c.in(data);
  const auto& values = c.in(updates);
  const auto part = movement::slices_of(c, 2, from.shape());
  auto& to = c.out(0);
  std::memcpy(to.mutable_bytes(), from.bytes(), from.byte_size());
  scatter_strided(values, part.shape, to, part.first, part.strides);
}

constexpr TypeVar T{"T", kAnyType}, TStart{"T_IND", kInteger}, TStop{"T_IND_STOP", kInteger},
    TStep{"T_IND_STEP", kInteger}, TAxis{"T_AXIS", kInteger};
constexpr PortDef kInputs[] = {{"data", T},     {"updates", T},  {"start", TStart},
                               {"stop", TStop}, {"step", TStep}, {"axes", TAxis, Arity::optional}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr Version kVersions[] = {
    {.since = 15,
     .inputs = kInputs,
     .outputs = kOutputs,
     .infer = infer,
     .reads = ports(2, 3, 4, 5),
     .eval = eval,
     .lift = Lift::moves,
     .bounds = bounds_by_moving},
};

}  // namespace

extern constinit const OpDef def{.type = "SliceScatter", .spec = "movement/slice-scatter", .versions = kVersions};

}  // namespace ovir::ops::slice_scatter
