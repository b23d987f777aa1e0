// SpaceToDepth: blocks of space become blocks of channels.
// Spec: operation-sets/operation-specs/movement/space-to-depth-1
#include "ops/movement/common.hpp"

namespace ovir::ops::space_to_depth {
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
  out[1] = out[1] * Dim(movement::block_volume(c, block, out.rank() - 2));
  for (i64 i = 2; i < out.rank(); ++i) {
    const auto length = movement::divided(out[i], block);
    c.require(length.has_value(), data, Code::E0506,
              "SpaceToDepth cannot divide axis {} of \"data\" {} into blocks of {}", i, to_string(c.shape(data)),
              block);
    out[i] = *length;
  }
  c.output(0, std::move(out));
}

/// Data as [N, C, d1, b1, …, dK, bK] becomes [N, b1, …, bK, C, d1, …, dK] (blocks_first) or [N, C, b1, …, bK, d1, …,
/// dK].
void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto& from = c.in(data);
  Shape view{from.dim(0), from.dim(1)};
  Shape blocks, space;
  for (i64 i = 2; i < from.rank(); ++i) {
    space.push_back(view.rank());
    blocks.push_back(space.back() + 1);
    view.insert(view.end(), {from.dim(i) / a.block_size, a.block_size});
  }
  Shape order{0};
  if (a.mode == BlockMode::depth_first) order.push_back(1);
  order.insert(order.end(), blocks.begin(), blocks.end());
  if (a.mode == BlockMode::blocks_first) order.push_back(1);
  order.insert(order.end(), space.begin(), space.end());
  permute(from, view, order, c.out(0));
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

extern constinit const OpDef def{.type = "SpaceToDepth", .spec = "movement/space-to-depth", .versions = kVersions};

}  // namespace ovir::ops::space_to_depth
