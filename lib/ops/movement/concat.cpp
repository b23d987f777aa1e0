// Concat: tensors one after the other along an axis.
// Spec: operation-sets/operation-specs/movement/concat-1
#include "op/shared_attrs.hpp"
#include "ops/movement/common.hpp"

namespace ovir::ops::concat {
namespace {

/// The inputs differ in a dim beside the axis: perhaps another axis was meant.
std::vector<Remedy> other_axes(i64 rank, i64 axis) {
  std::vector<Remedy> remedies;
  for (i64 other = 0; other < rank; ++other)
    if (other != axis) remedies.push_back({{Change::What::attribute, "axis", std::to_string(other)}});
  return remedies;
}

void infer(InferContext& c) {
  // Any input of known rank tells that of all.
  int ranked = -1;
  for (int i = 0; i < c.input_count() && ranked < 0; ++i)
    if (c.shape(i).has_rank()) ranked = i;
  if (ranked < 0) return c.output(0, PartialShape::unknown_rank());
  const auto rank = c.shape(ranked).rank();
  const auto axis = c.require_axis(c.attrs<ConcatAttrs>().axis, -1, rank);

  auto out = PartialShape::of_rank(rank);
  Dim along = 0;
  for (int i = 0; i < c.input_count(); ++i) {
    const auto& s = c.shape(i);
    if (!s.has_rank()) {
      along = along + Dim();
      continue;
    }
    c.require(s.rank() == rank, i, Code::E0504,
              "inputs of Concat must have the same rank, but input {} has shape {} and input {} has shape {}", ranked,
              to_string(c.shape(ranked)), i, to_string(s));
    along = along + s[axis];
    for (i64 d = 0; d < rank; ++d) {
      if (d == axis) continue;
      const auto both = intersect(out[d], s[d]);
      if (!both)
        c.fail_at(i, Code::E0506,
                  fmt::format("Concat along axis {0} needs equal dims elsewhere, but dim {1} is {3} in input {2} and "
                              "{4} in the inputs before it",
                              axis, d, i, to_string(s[d]), to_string(out[d])),
                  other_axes(rank, axis));
      out[d] = *both;
    }
  }
  if (!along.is_static() && along.symbol == 0) along.symbol = c.new_symbol();
  out[axis] = along;
  c.output(0, std::move(out));
}

void eval(EvalContext& c) {
  auto& to = c.out(0);
  const auto axis = movement::normalized(c.attrs<ConcatAttrs>().axis, to.rank());
  const auto strides = strides_of(to.shape());
  i64 first = 0;
  for (int i = 0; i < c.input_count(); ++i) {
    const auto& from = c.in(i);
    scatter_strided(from, from.shape(), to, first * strides[axis], strides);
    first += from.shape()[axis];
  }
}

constexpr TypeVar T{"T", kAnyType};
constexpr PortDef kInputs[] = {{"inputs", T, Arity::variadic}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<ConcatAttrs, Attr<"axis", &ConcatAttrs::axis, kRequired>>,
     .infer = infer,
     .eval = eval,
     .lift = Lift::moves,
     .bounds = bounds_by_moving,
     .moves = Moves::joins},
};

}  // namespace

extern constinit const OpDef def{.type = "Concat", .spec = "movement/concat", .versions = kVersions};

}  // namespace ovir::ops::concat
