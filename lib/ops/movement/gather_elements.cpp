// GatherElements: out[i][j][k] = data[i][indices[i][j][k]][k], here with axis 1.
// Spec: operation-sets/operation-specs/movement/gather-elements-6
#include "op/shared_attrs.hpp"
#include "ops/movement/common.hpp"

namespace ovir::ops::gather_elements {
namespace {

enum Input { data, indices };

void infer(InferContext& c) {
  c.require_rank_at_least(data, 1);
  c.require_rank_at_least(indices, 1);
  const auto &from = c.shape(data), &at = c.shape(indices);
  if (!from.has_rank() && !at.has_rank()) return c.output(0, PartialShape::unknown_rank());

  // "The data and indices tensors have the same rank": either tells it.
  const auto axis = c.require_axis(c.attrs<GatherElementsAttrs>().axis, -1, from.has_rank() ? from.rank() : at.rank());
  if (!at.has_rank()) {
    auto out = from;
    out[axis] = Dim();
    return c.output(0, std::move(out));
  }
  if (!from.has_rank()) return c.output(0, at);
  c.require(from.rank() == at.rank(), indices, Code::E0504,
            "inputs \"data\" and \"indices\" of GatherElements must have the same rank, but their shapes are {} and {}",
            to_string(from), to_string(at));
  // "indices has the same shape as data except for the axis dimension"
  PartialShape out;
  for (i64 i = 0; i < at.rank(); ++i)
    out.push_back(i == axis ? at[i]
                            : c.require_same_dim(from[i], at[i], indices, fmt::format("dim {} of \"data\"", i),
                                                 "that of \"indices\""));

  // "All index values are expected to be within bounds [0, s-1]": judged where they are known.
  movement::require_indices(c, indices, from, axis);
  c.output(0, std::move(out));
}

void eval(EvalContext& c) {
  const auto& from = c.in(data);
  const auto index = c.ints(indices);
  auto& to = c.out(0);
  if (to.size() == 0) return;
  const auto axis = movement::normalized(c.attrs<GatherElementsAttrs>().axis, from.rank());
  // An output element keeps its outer and inner position; its index picks the place along the axis.
  const AxisView source_view(from.shape(), axis), target_view(to.shape(), axis);
  dispatch_width(byte_width(from.type()), [&]<class T>() {
    const auto* source = from.data<T>();
    auto* target = to.mutable_data<T>();
    for (i64 i = 0; i < to.size(); ++i) {
      const auto outer = i / (target_view.length * target_view.inner), inner = i % target_view.inner;
      const auto at = movement::data_index(c, indices, index[i], from, axis);
      target[i] = source[source_view.offset(outer, at, inner)];
    }
  });
}

constexpr TypeVar T{"T", kAnyType}, TIndex{"T_IND", kIndex};
constexpr PortDef kInputs[] = {{"data", T},
                               {.name = "indices",
                                .type = TIndex,
                                .indexes = {.along = Indexes::Along::attribute, .data = data, .from_end = true}}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr Version kVersions[] = {
    {.since = 6,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<GatherElementsAttrs, Attr<"axis", &GatherElementsAttrs::axis, kRequired>>,
     .infer = infer,
     .eval = eval,
     .lift = Lift::moves,
     .bounds = bounds_by_moving},
};

}  // namespace

extern constinit const OpDef def{.type = "GatherElements", .spec = "movement/gather-elements", .versions = kVersions};

}  // namespace ovir::ops::gather_elements
