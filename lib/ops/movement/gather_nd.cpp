// GatherND: the elements or slices of data that the tuples in indices name.
// Spec: operation-sets/operation-specs/movement/gather-nd-5, gather-nd-8
#include "ops/movement/common.hpp"

namespace ovir::ops::gather_nd {
namespace {

enum Input { data, indices };

using Attrs = GatherAttrs;

/// indices.shape[:-1] + data.shape[batch_dims + indices.shape[-1]:]
PartialShape gathered(const InferContext& c) {
  const auto batch = c.attrs<Attrs>().batch_dims;
  c.require_rank_at_least(data, 1);
  c.require_rank_at_least(indices, 1);
  const auto &from = c.shape(data), &at = c.shape(indices);
  auto most = kMaxRank - 1;
  for (const auto* s : {&from, &at})
    if (s->has_rank()) most = std::min(most, s->rank() - 1);
  c.require_attr(0 <= batch && batch <= most, "batch_dims",
                 "must be in 0..{1} for \"data\" {2} and \"indices\" {3}, but is {0}", batch, most, to_string(from),
                 to_string(at));
  if (!from.has_rank() || !at.has_rank()) return PartialShape::unknown_rank();
  const auto& tuple = at[at.rank() - 1];
  c.require(batch + tuple.min <= from.rank(), indices, Code::E0506,
            "input \"indices\" of GatherND names {} axes after {} batch dims, but \"data\" has shape {}",
            to_string(tuple), batch, to_string(from));
  PartialShape out;
  for (i64 i = 0; i + 1 < at.rank(); ++i)
    out.push_back(i < batch ? c.require_same_dim(from[i], at[i], indices, fmt::format("batch dim {} of \"data\"", i),
                                                 "that of \"indices\"")
                            : at[i]);
  if (!tuple.is_static()) return PartialShape::unknown_rank();
  for (auto i = batch + tuple.length(); i < from.rank(); ++i) out.push_back(from[i]);
  // Of slices without elements none is moved, and no index looked at.
  if (tuple.length() > 0 && out.element_count().min > 0)
    movement::require_indices(c, indices, from, batch, tuple.length());
  return out;
}

/// Version 5 makes one axis of the batch dims.
void infer_5(InferContext& c) {
  auto out = gathered(c);
  const auto batch = c.attrs<Attrs>().batch_dims;
  if (batch < 2 || !out.has_rank()) return c.output(0, std::move(out));
  PartialShape fused{Dim(1)};
  for (i64 i = 0; i < out.rank(); ++i)
    if (i < batch) fused[0] = fused[0] * out[i];
    else fused.push_back(out[i]);
  c.output(0, std::move(fused));
}

void infer_8(InferContext& c) { c.output(0, gathered(c)); }

void eval(EvalContext& c) {
  const auto batch_dims = c.attrs<Attrs>().batch_dims;
  const auto &from = c.in(data), &at = c.in(indices);
  const auto index = c.ints(indices);
  auto& to = c.out(0);

  const auto product = [](const Shape& s, i64 first, i64 last) {
    return Shape(s.begin() + first, s.begin() + last).count();
  };
  const auto tuple = at.dim(at.rank() - 1);
  const auto batches = product(from.shape(), 0, batch_dims), picks = product(at.shape(), batch_dims, at.rank() - 1);
  const auto block = product(from.shape(), batch_dims, from.rank()),
             run = product(from.shape(), batch_dims + tuple, from.rank());
  const auto strides = strides_of(from.shape());
  const auto width = byte_width(from.type());
  const auto bytes = run * width;
  auto* target = to.mutable_bytes();
  for (i64 i = 0; i < batches * picks && bytes > 0; ++i, target += bytes) {
    auto first = i / picks * block;
    for (i64 k = 0; k < tuple; ++k) {
      const auto axis = batch_dims + k;
      first += movement::data_index(c, indices, index[i * tuple + k], from, axis) * strides[axis];
    }
    std::memcpy(target, from.bytes() + first * width, bytes);
  }
}

constexpr TypeVar T{"T", kAnyType}, TIndex{"T_IND", kInteger};
constexpr PortDef kInputs[] = {
    {"data", T},
    {.name = "indices", .type = TIndex, .indexes = {.along = Indexes::Along::leading, .data = data, .from_end = true}}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr auto kAttrs = attributes<Attrs, Attr<"batch_dims", &Attrs::batch_dims>>;
constexpr Version kVersions[] = {
    {.since = 5,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = kAttrs,
     .infer = infer_5,
     .eval = eval,
     .lift = Lift::moves,
     .bounds = bounds_by_moving},
    {.since = 8,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = kAttrs,
     .infer = infer_8,
     .eval = eval,
     .lift = Lift::moves,
     .bounds = bounds_by_moving},
};

}  // namespace

extern constinit const OpDef def{.type = "GatherND", .spec = "movement/gather-nd", .versions = kVersions};

}  // namespace ovir::ops::gather_nd
