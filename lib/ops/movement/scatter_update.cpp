// ScatterUpdate: a copy of data in which slices along an axis are replaced.
// Spec: operation-sets/operation-specs/movement/scatter-update-3
#include "ops/movement/common.hpp"

namespace ovir::ops::scatter_update {
namespace {

enum Input { data, indices, updates, axis };

void infer(InferContext& c) {
  c.require_rank(data, 1, INT64_MAX);
  c.require_single(axis);
  const auto &from = c.shape(data), &at = c.shape(indices), &values = c.shape(updates);
  if (from.has_rank()) {
    const auto known = c.scalar_int(axis);
    const auto along = known ? c.require_axis(*known, axis, from.rank()) : -1;
    if (at.has_rank() && values.has_rank())
      c.require(values.rank() == from.rank() + at.rank() - 1, updates, Code::E0504,
                "input \"updates\" of ScatterUpdate must have rank {}, but its shape is {}",
                from.rank() + at.rank() - 1, to_string(values));
    if (known && at.has_rank() && values.has_rank()) {
      // "updates: data.shape[:axis] + indices.shape + data.shape[axis + 1:]"
      PartialShape wanted;
      for (i64 i = 0; i < from.rank(); ++i)
        if (i != along) wanted.push_back(from[i]);
        else
          for (const auto& d : at) wanted.push_back(d);
      c.require(wanted.compatible(values), updates, Code::E0505,
                "input \"updates\" of ScatterUpdate must have shape {}, but its shape is {}", to_string(wanted),
                to_string(values));
    }
    // Without updates nothing is moved, and no index looked at.
    if (known && values.element_count().min > 0) movement::require_indices(c, indices, from, along, 1, false);
  }
  c.output(0, from);
}

void eval(EvalContext& c) {
  const auto &from = c.in(data), &values = c.in(updates);
  const auto at = c.ints(indices);
  const auto along = movement::normalized(c.scalar_int(axis), from.rank());
  auto& to = c.out(0);
  if (from.byte_size() > 0) std::memcpy(to.mutable_bytes(), from.bytes(), from.byte_size());

  if (values.size() == 0) return;
  const AxisView view(from.shape(), along);
  const i64 width = byte_width(from.type()), run = view.inner * width;
  const auto* source = values.bytes();
  for (i64 o = 0; o < view.outer; ++o)
    for (const auto i : at) {
      const auto target = view.offset(o, movement::data_index(c, indices, i, from, along, false), 0);
      std::memcpy(to.mutable_bytes() + target * width, source, run);
      source += run;
    }
}

constexpr TypeVar T{"T", kAnyType}, TIndex{"T_IND", kInteger}, TAxis{"T_AXIS", kInteger};
constexpr PortDef kInputs[] = {
    {"data", T},
    {.name = "indices", .type = TIndex, .indexes = {.along = Indexes::Along::input, .data = data, .at = axis}},
    {"updates", T},
    {"axis", TAxis}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr Version kVersions[] = {
    {.since = 3,
     .inputs = kInputs,
     .outputs = kOutputs,
     .infer = infer,
     .reads = ports(axis),
     .eval = eval,
     .lift = Lift::moves,
     .bounds = bounds_by_moving},
};

}  // namespace

extern constinit const OpDef def{.type = "ScatterUpdate", .spec = "movement/scatter-update", .versions = kVersions};

}  // namespace ovir::ops::scatter_update
