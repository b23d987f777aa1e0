// Unsqueeze: axes of length 1 put in.
// Spec: operation-sets/operation-specs/shape/unsqueeze-1
#include "op/kit/ranks.hpp"
#include "op/op.hpp"

namespace ovir::ops::unsqueeze {
namespace {

enum Input { data, axes };

/// `named` counts in the output, whose rank is that of data plus one for each. Nothing where two name one axis or one
/// is out of range.
template <class List, class Length>
std::optional<List> with_ones(const List& from, i64 from_rank, const std::vector<i64>& named, Length one) {
  const auto rank = from_rank + std::ssize(named);
  std::vector<bool> added(rank, false);
  for (const auto axis : named) {
    if (axis < -rank || axis >= rank) return std::nullopt;
    const auto at = axis < 0 ? axis + rank : axis;
    if (added[at]) return std::nullopt;
    added[at] = true;
  }
  List out;
  auto next = from.begin();
  for (const bool is_added : added)
    out.push_back(
        is_added ? one : *next++);  // NOLINT(performance-inefficient-vector-operation): a PartialShape cannot reserve
  return out;
}

void infer(InferContext& c) {
  c.require_rank(axes, 0, 1);
  const auto& from = c.shape(data);
  const auto count = axis_count(c.shape(axes));
  if (!from.has_rank()) return c.output(0, PartialShape::unknown_rank());
  const auto named = c.ints(axes);
  if (!named) return c.output(0, shape_of_rank(Dim(from.rank()) + count));
  const auto rank = from.rank() + std::ssize(*named);
  for (const auto axis : *named)
    c.require(-rank <= axis && axis < rank, axes, Code::E0507,
              "input \"axes\" of Unsqueeze names axis {}, but the output of rank {} has axes {}..{}", axis, rank, -rank,
              rank - 1);
  auto out = with_ones(from, from.rank(), *named, Dim(1));
  c.require(out.has_value(), axes, Code::E0508, "input \"axes\" of Unsqueeze must name each axis once, but is {}",
            to_string(*named));
  c.output(0, std::move(*out));
}

void eval(EvalContext& c) {
  const auto& from = c.stored(data);
  c.set_out(0, from.reshaped(c.out_shape(0).to_shape()));
}

constexpr TypeVar T{"T", kAnyType}, TInt{"T_INT", kInteger};
constexpr PortDef kInputs[] = {{"data", T}, {"axes", TInt}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = kInputs,
     .outputs = kOutputs,
     .infer = infer,
     .reads = ports(axes),
     .eval = eval,
     .lift = Lift::moves,
     .bounds = bounds_by_moving,
     .view = true},
};

}  // namespace

extern constinit const OpDef def{.type = "Unsqueeze", .spec = "shape/unsqueeze", .versions = kVersions};

}  // namespace ovir::ops::unsqueeze
