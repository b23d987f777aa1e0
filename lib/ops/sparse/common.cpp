#include "ops/sparse/common.hpp"
#include "op/work.hpp"

namespace ovir::ops::sparse {

void infer_bags(InferContext& c, const BagInputs& inputs, const Dim& bags) {
  c.require_rank_at_least(inputs.table, 1);
  c.require_rank(inputs.indices, inputs.segments < 0 ? 2 : 1);
  if (inputs.segments >= 0) c.require_rank(inputs.segments, 1);
  if (c.has(inputs.default_index) && inputs.default_index >= 0) c.require_rank(inputs.default_index, 0);
  auto count = bags;
  if (inputs.weights >= 0 && c.has(inputs.weights)) {
    c.require_rank(inputs.weights, inputs.segments < 0 ? 2 : 1);
    const auto both = c.require_same_shape(inputs.indices, inputs.weights);
    if (inputs.segments < 0 && both.has_rank()) count = both[0];  // each row is a bag
    c.require_attr(c.attrs<Attrs>().reduction == BagReduction::sum, "reduction",
                   "must be \"sum\" where \"per_sample_weights\" is connected");
  }
  auto shape = c.shape(inputs.table);
  if (shape.has_rank()) {
    const auto rows = shape[0];
    if (const auto indices = c.peek_ints(inputs.indices))
      for (const auto i : *indices)
        if (i < 0 || i >= rows.max) fail_row(c.version(), inputs.indices, i, rows);
    shape[0] = count;
  }
  c.output(0, std::move(shape));
}

void reduce_bags(EvalContext& c, const BagInputs& inputs, i64 count, const std::function<BagRange(i64)>& bag,
                 BagReduction reduction) {
  const auto& table = c.in(inputs.table);
  const auto indices = c.ints(inputs.indices);
  const auto rows = table.dim(0);
  auto shape = table.shape();
  shape[0] = count;
  auto& out = c.out(0, shape);
  const auto width = Shape(shape.begin() + 1, shape.end()).count();
  const auto default_index =
      inputs.default_index >= 0 && c.has(inputs.default_index) ? c.scalar_int(inputs.default_index) : -1;
  const auto check = [&](int port, i64 row) {
    if (row < 0 || row >= rows) fail_row(c.version(), port, row, rows);
    return row;
  };
  for (const auto i : indices) check(inputs.indices, i);  // those of no bag as well, as where inference knows them
  dispatch(out.type(), Numbers{}, [&]<class E>() {
    // Integers wrap.
    using U = std::conditional_t<std::is_integral_v<E>, std::uint64_t, E>;
    const E* weights = inputs.weights >= 0 && c.has(inputs.weights) ? c.in(inputs.weights).data<E>() : nullptr;
    E* to = out.mutable_data<E>();
    for (i64 b = 0; b < count; ++b) {
      const auto [first, last] = bag(b);
      spend(saturating_mul(std::max<i64>(0, last - first), width));
      std::fill_n(to, width, E(0));
      for (auto i = first; i < last; ++i) {
        const E* row = table.data<E>() + indices[i] * width;
        const E w = weights ? weights[i] : E(1);
        for (i64 k = 0; k < width; ++k)
          to[k] = static_cast<E>(static_cast<U>(to[k]) + static_cast<U>(row[k]) * static_cast<U>(w));
      }
      if (reduction == BagReduction::mean && last > first)
        for (i64 k = 0; k < width; ++k) to[k] = static_cast<E>(to[k] / static_cast<E>(last - first));
      if (last <= first && default_index >= 0)
        std::copy_n(table.data<E>() + check(inputs.default_index, default_index) * width, width, to);
      to += width;
    }
  });
}

void infer_offsets(InferContext& c) { infer_bags(c, kOffsetBags, axis_count(c.shape(kOffsetBags.segments))); }

void reduce_offsets(EvalContext& c) {
  const auto starts = c.ints(kOffsetBags.segments);
  const auto count = c.in(kOffsetBags.indices).size();
  const auto bag = [&](i64 b) {
    const BagRange range{starts[b], b + 1 < std::ssize(starts) ? starts[b + 1] : count};
    for (const auto& [at, offset] : {std::pair(b, range.first), std::pair(b + 1, range.last)})
      if (offset < 0 || offset > count) fail_offset(c.version(), at, offset, count);
    return range;
  };
  reduce_bags(c, kOffsetBags, std::ssize(starts), bag, c.attrs<Attrs>().reduction);
}

void infer_packed(InferContext& c) {
  const auto& shape = c.shape(kPackedBags.indices);
  infer_bags(c, kPackedBags, shape.has_rank() && shape.rank() == 2 ? shape[0] : Dim());
}

void reduce_packed(EvalContext& c) {
  const auto& indices = c.in(kPackedBags.indices);
  const auto size = indices.dim(1);
  reduce_bags(
      c, kPackedBags, indices.dim(0),
      [size](i64 b) {
        return BagRange{b * size, (b + 1) * size};
      },
      c.attrs<Attrs>().reduction);
}

}  // namespace ovir::ops::sparse
