// Broadcast: repeats data to fill a given shape.
// Spec: operation-sets/operation-specs/movement/broadcast-1, broadcast-3
#include "ops/movement/common.hpp"

namespace ovir::ops::broadcast {
namespace {

using Mode = BroadcastMode;
using Attrs = BroadcastModeAttrs;

enum Input { data, target_shape, axes_mapping };

/// What the target shape says of the output.
PartialShape target_of(const InferContext& c) {
  c.require_rank(target_shape, 1);
  if (const auto known = c.require_at_least(target_shape, 0)) {
    PartialShape target;
    for (const auto& v : *known) target.push_back(v.to_dim());
    return target;
  }
  return shape_of_rank(axis_count(c.shape(target_shape)));
}

/// Axis `i` of data: a length of 1 is repeated, any other is the target's.
Dim repeat(const InferContext& c, i64 i, const Dim& to) {
  const auto& from = c.shape(data)[i];
  if (from.contains(1)) return to;
  const auto both = intersect(from, to);
  c.require(both.has_value(), target_shape, Code::E0505,
            "dim {0} of input \"data\" {1} of Broadcast must be 1 or {2}, as \"target_shape\" asks for {2}", i,
            to_string(c.shape(data)), to_string(to));
  return *both;
}

/// Axis 0 of data meets the last axes of the target (numpy) or the first ones (pdpd).
void infer_aligned(InferContext& c, PartialShape target, bool last) {
  const auto& from = c.shape(data);
  if (!from.has_rank()) return c.output(0, std::move(target));
  const auto added = last ? target.rank() - from.rank() : 0;
  c.require(target.rank() >= from.rank(), target_shape, Code::E0504,
            "input \"target_shape\" of Broadcast must have as many dims as \"data\" {1} or more, but has {0}",
            target.rank(), to_string(from));
  for (i64 i = 0; i < from.rank(); ++i) target[added + i] = repeat(c, i, target[added + i]);
  c.output(0, std::move(target));
}

void infer_explicit(InferContext& c, PartialShape target) {
  const auto& from = c.shape(data);
  const auto axes = c.ints(axes_mapping);
  if (!axes) return c.output(0, std::move(target));
  // "The index values in this tensor should be sorted"
  c.require(std::is_sorted(axes->begin(), axes->end(), std::less_equal<>()), axes_mapping, Code::E0508,
            "input \"axes_mapping\" of Broadcast must be strictly increasing");
  for (i64 i = 0; i < std::ssize(*axes); ++i) {
    const auto axis = (*axes)[i];
    c.require(
        0 <= axis && axis < target.rank(), axes_mapping, Code::E0507,
        "element {0} of input \"axes_mapping\" of Broadcast must name one of {2} axes of \"target_shape\", but is {1}",
        i, axis, target.rank());
    if (from.has_rank() && i < from.rank()) target[axis] = repeat(c, i, target[axis]);
    if (from.has_rank() && from.rank() == 0)  // has no axis to be put there
      c.require(target[axis].contains(1), axes_mapping, Code::E0506,
                "input \"axes_mapping\" of Broadcast must name an axis of length 1 for a scalar \"data\", but names "
                "axis {} of length {}",
                axis, to_string(target[axis]));
  }
  c.output(0, std::move(target));
}

void infer(InferContext& c) {
  const auto mode = c.attrs<Attrs>().mode;
  const auto& from = c.shape(data);
  if (mode == Mode::explicit_) {
    if (!c.has(axes_mapping)) c.fail_at(-1, Code::E0501, "Broadcast needs input \"axes_mapping\" in explicit mode");
    c.require_rank(axes_mapping, 1);
    // "The size of axes_mapping should match the rank of input data tensor"; [0] or nothing may be given for a scalar.
    if (from.has_rank() && from.rank() > 0)
      c.require_same_dim(from.rank(), axis_count(c.shape(axes_mapping)), axes_mapping, "the rank of \"data\"",
                         "the number of elements of \"axes_mapping\"");
  }
  const auto target = target_of(c);
  if (!target.has_rank()) return c.output(0, target);
  if (mode == Mode::numpy || mode == Mode::pdpd) return infer_aligned(c, target, mode == Mode::numpy);
  if (mode == Mode::explicit_) return infer_explicit(c, target);
  auto both = ovir::broadcast(from, target);
  c.require(both.has_value(), target_shape, Code::E0505,
            "Broadcast cannot broadcast \"data\" {} and the target shape {} to each other", to_string(from),
            to_string(target));
  c.output(0, std::move(*both));
}

void eval(EvalContext& c) {
  const auto& from = c.in(data);
  auto& to = c.out(0);
  const auto mode = c.attrs<Attrs>().mode;
  auto view = from.shape();  // data under its axes, 1 elsewhere
  if (mode == Mode::pdpd) view.resize(to.shape().size(), 1);
  if (mode == Mode::explicit_ && from.rank() > 0) {
    const auto axes = c.ints(axes_mapping);
    view = Shape(to.rank(), 1);
    for (std::size_t i = 0; i < axes.size(); ++i) view[axes[i]] = from.shape()[i];
  }
  gather_strided(from, 0, broadcast_strides(view, to.shape()), to.shape(), to);
}

constexpr TypeVar T{"T", kAnyType}, TShape{"T_SHAPE", kInteger}, TAxes{"T_AXES", kInteger};
constexpr PortDef kInputs[] = {{"data", T}, {"target_shape", TShape}, {"axes_mapping", TAxes, Arity::optional}};
constexpr PortDef kOutputs[] = {{"output", T}};
consteval Version version(int since, AttributeTable attrs) {
  return {.since = since,
          .inputs = kInputs,
          .outputs = kOutputs,
          .attrs = attrs,
          .infer = infer,
          .reads = ports(target_shape, axes_mapping),
          .eval = eval,
          .lift = Lift::moves,
          .bounds = bounds_by_moving};
}
constexpr Version kVersions[] = {
    version(1, attributes<Attrs, Attr<"mode", &Attrs::mode, kOptional, Mode::numpy, Mode::explicit_, Mode::pdpd>>),
    version(3, attributes<Attrs, Attr<"mode", &Attrs::mode>>),
};

}  // namespace

extern constinit const OpDef def{.type = "Broadcast", .spec = "movement/broadcast", .versions = kVersions};

}  // namespace ovir::ops::broadcast
