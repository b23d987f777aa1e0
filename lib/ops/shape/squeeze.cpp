// Squeeze: axes of length 1 left out.
// Spec: operation-sets/operation-specs/shape/squeeze-1, squeeze-15
#include "op/op.hpp"

namespace ovir::ops::squeeze {
namespace {

enum Input { data, axes };

struct Attrs {
  bool allow_axis_skip = false;
};

void infer(InferContext& c) {
  c.require_rank(axes, 0, 1);
  const auto& from = c.shape(data);
  if (!from.has_rank()) return c.output(0, PartialShape::unknown_rank());
  const auto count = c.has(axes) ? axis_count(c.shape(axes)) : Dim(0);
  const auto known = c.ints(axes);
  if (!known && (!count.is_static() || count.length() > 1)) return c.output(0, PartialShape::unknown_rank());
  if (!known && count.length() == 1) {  // one axis goes, unless it is one that stays
    const auto may_go = std::count_if(from.begin(), from.end(), [](const Dim& d) { return d.contains(1); });
    if (may_go == 0) return c.output(0, from);
    const bool goes = may_go == from.rank() && !c.attrs<Attrs>().allow_axis_skip;
    return c.output(0, goes ? PartialShape::of_rank(from.rank() - 1) : PartialShape::unknown_rank());
  }

  std::vector<bool> named(from.rank(), !known || known->empty());
  const bool all = !known || known->empty();
  if (known)
    for (const auto axis : *known) named[c.require_axis(axis, axes, from.rank())] = true;
  PartialShape out;
  for (i64 i = 0; i < from.rank(); ++i) {
    const bool asked = named[i];
    // "If index of the dimension to squeeze is provided as a constant input and it points to a dynamic dimension that
    // might be 1, then the dimension is considered as squeezable": unless skipping is allowed.
    if (asked && !from[i].is_static() && from[i].contains(1) && (all || c.attrs<Attrs>().allow_axis_skip))
      return c.output(0, PartialShape::unknown_rank());
    if (!asked || !from[i].contains(1)) out.push_back(from[i]);
  }
  c.output(0, std::move(out));
}

void eval(EvalContext& c) {
  const auto& from = c.stored(data);
  const auto named = c.has(axes) ? c.ints(axes) : std::span<const i64>();
  Shape shape;
  for (i64 i = 0; i < from.rank(); ++i) {
    const bool asked =
        named.empty() ||
        std::count(named.begin(), named.end(), i) + std::count(named.begin(), named.end(), i - from.rank()) > 0;
    // "Specified dimension should be equal to 1, otherwise it will be ignored and copied as is."
    if (!asked || from.dim(i) != 1) shape.push_back(from.dim(i));
  }
  c.set_out(0, from.reshaped(std::move(shape)));
}

constexpr TypeVar T{"T", kAnyType}, TInt{"T_INT", kInteger};
constexpr PortDef kInputs[] = {{"data", T}, {"axes", TInt, Arity::optional}};
constexpr PortDef kOutputs[] = {{"output", T}};
consteval Version version(int since, AttributeTable attrs) {
  return {.since = since,
          .inputs = kInputs,
          .outputs = kOutputs,
          .attrs = attrs,
          .infer = infer,
          .reads = ports(axes),
          .eval = eval,
          .lift = Lift::moves,
          .bounds = bounds_by_moving,
          .view = true};
}
constexpr Version kVersions[] = {
    version(1, attributes<Attrs>),
    version(15, attributes<Attrs, Attr<"allow_axis_skip", &Attrs::allow_axis_skip>>),
};

}  // namespace

extern constinit const OpDef def{.type = "Squeeze", .spec = "shape/squeeze", .versions = kVersions};

}  // namespace ovir::ops::squeeze
