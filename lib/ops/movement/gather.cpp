// Gather: slices of data along one axis, picked by indices.
// Spec: operation-sets/operation-specs/movement/gather-1, gather-7, gather-8
#include "ops/movement/common.hpp"

namespace ovir::ops::gather {
namespace {

enum Input { data, indices, axis };

using Attrs = GatherAttrs;

/// "If batch_dims is less than zero, normalized value is used batch_dims = indices.rank + batch_dims."
i64 batch_dims_of(const Attrs& a, i64 indices_rank) {
  return a.batch_dims < 0 ? a.batch_dims + indices_rank : a.batch_dims;
}

/// The number of batch dims, where it can be told; it is at most the rank of either input.
std::optional<i64> require_batch_dims(const InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto &from = c.shape(data), &at = c.shape(indices);
  if (a.batch_dims < 0 && !at.has_rank()) return std::nullopt;
  const auto batch = batch_dims_of(a, at.has_rank() ? at.rank() : 0);
  auto most = kMaxRank;
  for (const auto* s : {&from, &at})
    if (s->has_rank()) most = std::min(most, s->rank());
  c.require_attr(0 <= batch && batch <= most, "batch_dims",
                 "must be in {1}..{2} for \"data\" {3} and \"indices\" {4}, but is {0}", a.batch_dims,
                 at.has_rank() ? -at.rank() : 0, most, to_string(from), to_string(at));
  return batch;
}

void infer(InferContext& c) {
  c.require_rank_at_least(data, 1);
  c.require_single(axis);
  const auto &from = c.shape(data), &at = c.shape(indices);
  const auto batch = require_batch_dims(c);
  auto along = c.scalar_int(axis);
  if (along && from.has_rank()) along = c.require_axis(*along, axis, from.rank());
  if (along && *along >= 0 && batch)
    c.require_attr(*batch <= *along, "batch_dims", "must not be more than \"axis\" ({1}), but is {0}",
                   c.attrs<Attrs>().batch_dims, *along);
  if (!from.has_rank() || !at.has_rank() || !batch) return c.output(0, PartialShape::unknown_rank());

  // data.shape[:axis] + indices.shape[batch_dims:] + data.shape[axis + 1:]
  PartialShape out;
  for (i64 i = 0; i < *batch; ++i)
    out.push_back(
        c.require_same_dim(from[i], at[i], indices, fmt::format("batch dim {} of \"data\"", i), "that of \"indices\""));
  if (!along) {
    while (out.rank() < from.rank() + at.rank() - 1 - *batch) out.push_back(Dim());
    return c.output(0, std::move(out));
  }
  for (auto i = *batch; i < *along; ++i) out.push_back(from[i]);
  for (auto i = *batch; i < at.rank(); ++i) out.push_back(at[i]);
  for (auto i = *along + 1; i < from.rank(); ++i) out.push_back(from[i]);
  c.output(0, std::move(out));
}

/// "If index value exceed allowed range output data for corresponding index will be filled with zeros": said of version
/// 8, as is that negative indices count from the end; both hold for the earlier ones, too (NOTES.md).
void eval(EvalContext& c) {
  const auto& from = c.in(data);
  const auto& at = c.in(indices);
  const auto index = c.ints(indices);
  const auto along = movement::normalized(c.scalar_int(axis), from.rank());
  const auto batch = batch_dims_of(c.attrs<Attrs>(), at.rank());
  auto& to = c.out(0);

  if (to.size() == 0) return;
  const auto batches = Shape(at.shape().begin(), at.shape().begin() + batch).count();
  const auto picks = at.size() / batches;
  const AxisView view(from.shape(), along);
  const auto outer = view.outer / batches, length = view.length;
  const auto run = view.inner * byte_width(from.type());

  auto* target = to.mutable_bytes();
  for (i64 b = 0; b < batches; ++b) {
    for (i64 o = 0; o < outer; ++o) {
      const auto* block = from.source() + (b * outer + o) * length * run;
      for (i64 i = 0; i < picks; ++i, target += run) {
        auto pick = index[b * picks + i];
        if (pick < 0) pick += length;
        if (0 <= pick && pick < length) std::memcpy(target, block + pick * run, run);
        else std::memset(target, zero_byte(from.type()), run);
      }
    }
  }
}

constexpr TypeVar T{"T", kAnyType}, TIndex{"T_IND", kInteger}, TAxis{"T_AXIS", kInteger};
constexpr PortDef kInputs[] = {
    {"data", T},
    {.name = "indices",
     .type = TIndex,
     .indexes = {.along = Indexes::Along::input, .data = data, .at = axis, .from_end = true}},
    {"axis", TAxis}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr auto kBatch = attributes<Attrs, Attr<"batch_dims", &Attrs::batch_dims>>;
consteval Version version(int since, AttributeTable attrs) {
  return {.since = since,
          .inputs = kInputs,
          .outputs = kOutputs,
          .attrs = attrs,
          .infer = infer,
          .reads = ports(axis),
          .eval = eval,
          .lift = Lift::moves,
          .bounds = bounds_by_moving,
          .moves = Moves::picks};
}
constexpr Version kVersions[] = {
    version(1, attributes<Attrs>),
    version(7, kBatch),
    version(8, kBatch),
};

}  // namespace

extern constinit const OpDef def{.type = "Gather", .spec = "movement/gather", .versions = kVersions};

}  // namespace ovir::ops::gather
