// SegmentMax: the maximum of the slices of data that belong to one segment.
// Spec: operation-sets/operation-specs/arithmetic/segment-max-16
#include "op/op.hpp"

namespace ovir::ops::segment_max {
namespace {

enum class Empty : std::uint8_t { zero, lowest };
constexpr auto words(Empty) { return std::to_array<Word<Empty>>({{"ZERO", Empty::zero}, {"LOWEST", Empty::lowest}}); }

enum Input { data, segment_ids, num_segments };

struct Attrs {
  std::optional<Empty> fill_mode;  // files say fill_mode where the specification says empty_segment_value
};

void infer(InferContext& c) {
  if (!c.attrs<Attrs>().fill_mode) c.fail_attr("fill_mode", "is required", Code::E0401);
  c.require_rank_at_least(data, 1);
  c.require_rank(segment_ids, 1);
  Dim segments;
  if (const auto ids = c.ints(segment_ids)) {
    for (std::size_t i = 0; i < ids->size(); ++i)
      c.require((*ids)[i] >= (i == 0 ? 0 : (*ids)[i - 1]), segment_ids, Code::E0508,
                "input \"segment_ids\" of SegmentMax must hold sorted ids of 0 or more, but {} is {}{}",
                i == 0 ? "the first" : fmt::format("element {}", i), (*ids)[i],
                i == 0 ? "" : fmt::format(" and the one before it {}", (*ids)[i - 1]));
    c.require(ids->empty() || ids->back() < Dim::kUnbounded, segment_ids, Code::E0508,
              "input \"segment_ids\" of SegmentMax must hold ids below {}", Dim::kUnbounded);
    segments = Dim(ids->empty() ? 0 : ids->back() + 1);
  }
  if (c.has(num_segments)) {
    c.require_rank(num_segments, 0);
    const auto count = c.require_at_least(num_segments, 0);
    segments = count && count->size() == 1 ? count->front().to_dim() : Dim();
  }
  auto shape = c.shape(data);
  if (shape.has_rank()) {
    c.require_same_dim(shape[0], axis_count(c.shape(segment_ids)), segment_ids, "dim 0 of \"data\"",
                       "elements of \"segment_ids\"");
    shape[0] = segments;
  }
  c.output(0, std::move(shape));
}

void eval(EvalContext& c) {
  const auto& from = c.in(data);
  const auto ids = c.ints(segment_ids);
  auto& out = c.out(0);
  const auto& shape = out.shape();
  const auto width = Shape(shape.begin() + 1, shape.end()).count();
  const auto kind = c.declared_out_type(0);
  dispatch(out.type(), Numbers{}, [&]<class E>() {
    E* to = out.mutable_data<E>();
    std::fill_n(to, out.size(), *c.attrs<Attrs>().fill_mode == Empty::zero ? E(0) : lowest<E>(kind));
    std::vector<bool> begun(shape[0], false);
    for (i64 i = 0; i < std::ssize(ids); ++i) {
      if (ids[i] >= shape[0]) continue;
      const E* row = from.data<E>() + i * width;
      E* best = to + ids[i] * width;
      const auto at = ids[i];
      for (i64 k = 0; k < width; ++k) best[k] = begun[at] ? std::max(best[k], row[k]) : row[k];
      begun[at] = true;
    }
  });
}

constexpr TypeVar T{"T", kNumeric}, TIds{"T_IDX1", kIndex}, TCount{"T_IDX2", kIndex};
constexpr PortDef kInputs[] = {{"data", T}, {"segment_ids", TIds}, {"num_segments", TCount, Arity::optional}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr Version kVersions[] = {
    {.since = 16,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"fill_mode", &Attrs::fill_mode>, Attr<"empty_segment_value", &Attrs::fill_mode>>,
     .infer = infer,
     .reads = ports(segment_ids, num_segments),
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "SegmentMax", .spec = "arithmetic/segment-max", .versions = kVersions};

}  // namespace ovir::ops::segment_max
