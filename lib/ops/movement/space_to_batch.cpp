// SpaceToBatch: space is padded and cut into blocks that become batch elements.
// Spec: operation-sets/operation-specs/movement/space-to-batch-2
#include "ops/movement/common.hpp"

namespace ovir::ops::space_to_batch {
namespace {

enum Input { data, block_shape, pads_begin, pads_end };

void infer(InferContext& c) {
  const auto& from = c.shape(data);
  const auto rank = movement::require_block_inputs(c);
  if (!from.has_rank()) return c.output(0, shape_of_rank(rank));
  const auto blocks = c.ints(block_shape), before = c.ints(pads_begin), after = c.ints(pads_end);
  auto out = PartialShape::of_rank(from.rank());
  if (blocks) {
    const auto volume = checked_product(*blocks);
    c.require(volume.has_value(), block_shape, Code::E0508,
              "input \"block_shape\" of SpaceToBatch must have a product below 2^63, but is {}", to_string(*blocks));
    out[0] = from[0] * Dim(*volume);
  }
  // "D_i + P_i is divisible by block_shape[i]"
  for (i64 i = 1; blocks && before && after && i < from.rank(); ++i) {
    const auto padded = from[i] + Dim((*before)[i]) + Dim((*after)[i]);
    const auto length = movement::divided(padded, (*blocks)[i]);
    c.require(length.has_value(), block_shape, Code::E0506,
              "SpaceToBatch cannot cut axis {0} of \"data\" {1}, padded to {2}, into blocks of {3}", i, to_string(from),
              to_string(padded), (*blocks)[i]);
    out[i] = *length;
  }
  c.output(0, std::move(out));
}

/// Padded data as [N, d1, b1, …, dK, bK] becomes [b1, …, bK, N, d1, …, dK].
void eval(EvalContext& c) {
  const auto& from = c.in(data);
  const auto blocks = c.ints(block_shape), before = c.ints(pads_begin), after = c.ints(pads_end);
  auto& to = c.out(0);
  if (to.size() == 0) return;
  auto padded = from.shape();
  for (std::size_t i = 0; i < padded.size(); ++i) padded[i] += before[i] + after[i];
  Shape view{padded[0]};
  Shape order, space{0};
  for (std::size_t i = 1; i < padded.size(); ++i) {
    space.push_back(view.rank());
    order.push_back(space.back() + 1);
    view.insert(view.end(), {padded[i] / blocks[i], blocks[i]});
  }
  order.insert(order.end(), space.begin(), space.end());

  const bool text = from.type() == ElementType::string;
  auto whole = text ? Tensor(from.type(), padded) : c.scratch(from.type(), padded);
  if (text) std::fill_n(whole.mutable_data<std::string_view>(), whole.size(), std::string_view());
  else std::memset(whole.mutable_bytes(), zero_byte(whole.type()), whole.byte_size());
  const auto strides = strides_of(padded);
  i64 first = 0;
  for (std::size_t i = 0; i < padded.size(); ++i) first += before[i] * strides[i];
  scatter_strided(from, from.shape(), whole, first, strides);
  permute(whole, view, order, to);
}

constexpr TypeVar T{"T", kAnyType}, TInt{"T_INT", kInteger};
constexpr PortDef kInputs[] = {{"data", T}, {"block_shape", TInt}, {"pads_begin", TInt}, {"pads_end", TInt}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr Version kVersions[] = {{.since = 2,
                                  .inputs = kInputs,
                                  .outputs = kOutputs,
                                  .infer = infer,
                                  .reads = ports(block_shape, pads_begin, pads_end),
                                  .eval = eval,
                                  .lift = Lift::moves}};

}  // namespace

extern constinit const OpDef def{.type = "SpaceToBatch", .spec = "movement/space-to-batch", .versions = kVersions};

}  // namespace ovir::ops::space_to_batch
