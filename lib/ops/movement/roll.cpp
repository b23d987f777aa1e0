// Roll: shifts `data` cyclically along `axes`; elements pushed past the end re-enter at the start.
// Spec: operation-sets/operation-specs/movement/roll-7
#include "ops/movement/common.hpp"

namespace ovir::ops::roll {
namespace {

enum Input { data, shift, axes };

void infer(InferContext& c) {
  c.require_rank(shift, 0, 1);
  c.require_rank(axes, 0, 1);
  // A scalar serves all axes, and so does a shift of one element; else there is one shift an axis.
  const auto shifts = axis_count(c.shape(shift));
  if (!shifts.contains(1))
    c.require_same_dim(shifts, axis_count(c.shape(axes)), axes, "the number of elements of \"shift\"",
                       "that of \"axes\"");
  if (const auto known = c.ints(axes); known && c.shape(data).has_rank())
    for (const auto axis : *known) c.require_axis(axis, axes, c.shape(data).rank());
  c.output(0, c.shape(data));
}

void eval(EvalContext& c) {
  const auto& from = c.in(data);
  auto& to = c.out(0);
  const auto rank = from.rank();
  const auto shifts = c.ints(shift);
  const auto along = c.ints(axes);

  // What each axis is shifted by in all: "if the same axis is referenced more than once, the total shift for that axis
  // will be the sum of all the shifts that belong to that axis".
  Shape total(rank, 0);
  for (std::size_t i = 0; i < along.size(); ++i) {
    const auto axis = movement::normalized(along[i], rank);
    const auto length = from.shape()[axis];
    if (length == 0) continue;
    total[axis] = (total[axis] + shifts[shifts.size() == 1 ? 0 : i] % length + length) % length;
  }

  // Element [i0, i1, …] goes to [(i0 + t0) % d0, …]: walk the outer axes, copy the innermost one in two runs.
  if (to.size() == 0) return;
  const auto width = byte_width(from.type());
  const auto row = rank == 0 ? 1 : from.shape().back();
  const auto turn = rank == 0 ? 0 : total.back();
  const Shape outer(from.shape().begin(), from.shape().end() - (rank == 0 ? 0 : 1));
  const auto stride = strides_of(outer);
  i64 source_row = 0;
  for (IndexWalker at(outer); !at.done(); at.next(), ++source_row) {
    i64 target_row = 0;
    for (i64 axis = 0; axis < outer.rank(); ++axis) target_row += (at[axis] + total[axis]) % outer[axis] * stride[axis];
    const auto* source = from.bytes() + source_row * row * width;
    auto* target = to.mutable_bytes() + target_row * row * width;
    std::memcpy(target + turn * width, source, (row - turn) * width);
    std::memcpy(target, source + (row - turn) * width, turn * width);
  }
}

constexpr TypeVar T{"T", kAnyType}, TShift{"T_IND_1", kIndex}, TAxes{"T_IND_2", kIndex};
constexpr PortDef kInputs[] = {{"data", T}, {"shift", TShift}, {"axes", TAxes}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr Version kVersions[] = {
    {.since = 7,
     .inputs = kInputs,
     .outputs = kOutputs,
     .infer = infer,
     .reads = ports(axes),
     .eval = eval,
     .lift = Lift::moves,
     .bounds = bounds_by_moving},
};

}  // namespace

extern constinit const OpDef def{.type = "Roll", .spec = "movement/roll", .versions = kVersions};

}  // namespace ovir::ops::roll
