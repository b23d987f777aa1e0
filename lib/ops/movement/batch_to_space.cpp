// BatchToSpace: batch elements become blocks of space, which is then cropped.
// Spec: operation-sets/operation-specs/movement/batch-to-space-2
#include "ops/movement/common.hpp"

namespace ovir::ops::batch_to_space {
namespace {

enum Input { data, block_shape, crops_begin, crops_end };

void infer(InferContext& c) {
  const auto& from = c.shape(data);
  const auto rank = movement::require_block_inputs(c);
  if (!from.has_rank()) return c.output(0, shape_of_rank(rank));
  const auto blocks = c.ints(block_shape), before = c.ints(crops_begin), after = c.ints(crops_end);
  auto out = PartialShape::of_rank(from.rank());
  if (blocks) {
    const auto volume = checked_product(*blocks);
    const auto batch = volume ? movement::divided(from[0], *volume) : std::nullopt;
    c.require(batch.has_value(), block_shape, Code::E0506,
              "the batch of input \"data\" {1} of BatchToSpace must be a multiple of the product of \"block_shape\" "
              "({2}), but is {0}",
              to_string(from[0]), to_string(from), to_string(*blocks));
    out[0] = *batch;
  }
  for (i64 i = 1; blocks && before && after && i < from.rank(); ++i) {
    const auto whole = from[i] * Dim((*blocks)[i]), cropped = Dim((*before)[i]) + Dim((*after)[i]);
    c.require(
        cropped.min <= whole.max, crops_begin, Code::E0506,
        "\"crops_begin\" and \"crops_end\" of BatchToSpace must take away {} elements or fewer of axis {}, but take "
        "away {}",
        to_string(whole), i, to_string(cropped));
    out[i] = whole - cropped;
  }
  c.output(0, std::move(out));
}

/// Data as [b1, …, bK, N', d1, …, dK] becomes [N', d1, b1, …, dK, bK], of which a window is kept.
void eval(EvalContext& c) {
  const auto& from = c.in(data);
  const auto blocks = c.ints(block_shape), before = c.ints(crops_begin);
  auto& to = c.out(0);
  if (to.size() == 0) return;
  const auto volume = Shape(blocks).count();
  const auto spatial = from.rank() - 1;

  Shape view(blocks.begin() + 1, blocks.end()), whole{from.dim(0) / volume};
  view.push_back(whole[0]);
  view.insert(view.end(), from.shape().begin() + 1, from.shape().end());
  Shape order{spatial};
  for (i64 i = 0; i < spatial; ++i) {
    const auto at = i + 1;
    order.insert(order.end(), {spatial + 1 + i, i});
    whole.push_back(from.dim(i + 1) * blocks[at]);
  }
  auto spread = from.type() == ElementType::string ? Tensor(from.type(), whole) : c.scratch(from.type(), whole);
  permute(from, view, order, spread);
  const auto strides = strides_of(whole);
  i64 first = 0;
  for (std::size_t i = 1; i < whole.size(); ++i) first += before[i] * strides[i];
  gather_strided(spread, first, strides, to.shape(), to);
}

constexpr TypeVar T{"T", kAnyType}, TInt{"T_INT", kInteger};
constexpr PortDef kInputs[] = {{"data", T}, {"block_shape", TInt}, {"crops_begin", TInt}, {"crops_end", TInt}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr Version kVersions[] = {{.since = 2,
                                  .inputs = kInputs,
                                  .outputs = kOutputs,
                                  .infer = infer,
                                  .reads = ports(block_shape, crops_begin, crops_end),
                                  .eval = eval,
                                  .lift = Lift::moves}};

}  // namespace

extern constinit const OpDef def{.type = "BatchToSpace", .spec = "movement/batch-to-space", .versions = kVersions};

}  // namespace ovir::ops::batch_to_space
