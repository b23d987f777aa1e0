// Tile: data repeated along each axis.
// Spec: operation-sets/operation-specs/movement/tile-1
#include "ops/movement/common.hpp"

namespace ovir::ops::tile {
namespace {

enum Input { data, repeats };

void infer(InferContext& c) {
  c.require_rank(repeats, 1);
  const auto& from = c.shape(data);
  const auto times = c.intervals(repeats);
  const auto entries = shape_of_rank(times ? Dim(std::ssize(*times)) : axis_count(c.shape(repeats)));
  if (!from.has_rank() || !entries.has_rank()) return c.output(0, PartialShape::unknown_rank());

  // "If the number of elements in repeats is more or less than the rank, 1s are put in front of the shorter one."
  const auto n = entries.rank();
  const auto rank = std::max(n, from.rank());
  PartialShape out;
  for (i64 i = 0; i < rank; ++i) {
    const auto axis = i - (rank - from.rank()), entry = i - (rank - n);
    const auto length = axis < 0 ? Dim(1) : from[axis];
    if (entry < 0) out.push_back(length);
    else if (!times) out.push_back(length.is_static() && length.length() == 0 ? Dim(0) : Dim());
    else out.push_back(length * (*times)[entry].to_dim());  // a negative number of repeats is 0
  }
  c.output(0, std::move(out));
}

void eval(EvalContext& c) {
  const auto& from = c.in(data);
  Shape times = c.ints(repeats);
  auto& to = c.out(0);
  if (to.size() == 0) return;
  auto shape = from.shape();
  while (times.size() < shape.size()) times.insert(times.begin(), 1);
  while (shape.size() < times.size()) shape.insert(shape.begin(), 1);

  // The output as [times0, length0, times1, length1, …]: a step along a "times" axis stays in place in the data.
  const auto strides = strides_of(shape);
  Shape view, walk;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    view.insert(view.end(), {times[i], shape[i]});
    walk.insert(walk.end(), {0, strides[i]});
  }
  gather_strided(from, 0, walk, view, to);
}

constexpr TypeVar T{"T", kAnyType}, TRepeats{"T_REPEATS", kInteger};
constexpr PortDef kInputs[] = {{"data", T}, {"repeats", TRepeats}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = kInputs,
     .outputs = kOutputs,
     .infer = infer,
     .reads = ports(repeats),
     .eval = eval,
     .lift = Lift::moves,
     .bounds = bounds_by_moving},
};

}  // namespace

extern constinit const OpDef def{.type = "Tile", .spec = "movement/tile", .versions = kVersions};

}  // namespace ovir::ops::tile
