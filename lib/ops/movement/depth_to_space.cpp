// DepthToSpace: blocks of channels become blocks of space.
// Spec: operation-sets/operation-specs/movement/depth-to-space-1
#include "ops/movement/common.hpp"

namespace ovir::ops::depth_to_space {
namespace {

using movement::BlockMode;
using Attrs = movement::BlockAttrs;

enum Input { data };

void infer(InferContext& c) {
  const auto block = c.attrs<Attrs>().block_size;
  c.require_attr(block > 0, "block_size", "must be positive, but is {}", block);
  c.require_rank(data, 3, 64);
  auto out = c.shape(data);
  if (!out.has_rank()) return c.output(0, std::move(out));
  const auto volume = movement::block_volume(c, block, out.rank() - 2);
  const auto channels = movement::divided(out[1], volume);
  c.require(channels.has_value(), data, Code::E0506,
            "the channels of input \"data\" {1} of DepthToSpace must be a multiple of {2} (block_size {3} for each "
            "spatial axis), but are {0}",
            to_string(out[1]), to_string(out), volume, block);
  out[1] = *channels;
  for (i64 i = 2; i < out.rank(); ++i) out[i] = out[i] * Dim(block);
  c.output(0, std::move(out));
}

/// blocks_first: data as [N, b1, …, bK, C', d1, …, dK]; depth_first: [N, C', b1, …, bK, d1, …, dK];
/// both become [N, C', d1, b1, …, dK, bK].
void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto& from = c.in(data);
  auto& to = c.out(0);
  const auto spatial = from.rank() - 2;
  const bool blocks_first = a.mode == BlockMode::blocks_first;
  Shape view{from.dim(0)};
  if (!blocks_first) view.push_back(to.dim(1));
  view.insert(view.end(), spatial, a.block_size);
  if (blocks_first) view.push_back(to.dim(1));
  view.insert(view.end(), from.shape().begin() + 2, from.shape().end());

  Shape order{0, blocks_first ? spatial + 1 : 1};
  for (i64 i = 0; i < spatial; ++i) order.insert(order.end(), {spatial + 2 + i, (blocks_first ? 1 : 2) + i});
  permute(from, view, order, to);
}

constexpr TypeVar T{"T", kAnyType};
constexpr PortDef kInputs[] = {{"data", T}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = movement::kBlockAttrs,
     .infer = infer,
     .eval = eval,
     .lift = Lift::moves},
};

}  // namespace

extern constinit const OpDef def{.type = "DepthToSpace", .spec = "movement/depth-to-space", .versions = kVersions};

}  // namespace ovir::ops::depth_to_space
