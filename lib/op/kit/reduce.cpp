#include "op/kit/reduce.hpp"

#include "op/kit/elementwise.hpp"

namespace ovir {

void infer_reduce(InferContext& c) {
  const bool keep = c.attrs<ReduceAttrs>().keep_dims;
  const auto& data = c.shape(kReduceData);
  c.require_rank(kReduceAxes, 0, 1);
  const auto axes = c.ints(kReduceAxes);
  if (!data.has_rank()) return c.output(0, PartialShape::unknown_rank());
  const auto rank = data.rank();
  if (!axes) {
    // Each axis may be kept as it is or become 1; how many are dropped is known where there is one axis, or none.
    auto any = data;
    for (auto& d : any.dims()) d = hull(d, Dim(1));
    const auto count = axis_count(c.shape(kReduceAxes));
    if (count == Dim(0)) return c.output(0, data);
    if (keep) return c.output(0, any);
    if (count == Dim(1))
      c.require(rank > 0, kReduceAxes, Code::E0507, "input \"{}\" must have an axis to reduce, but is a scalar",
                c.port_name(kReduceData));
    return c.output(0, count == Dim(1) ? PartialShape::of_rank(rank - 1) : PartialShape::unknown_rank());
  }
  std::vector<bool> reduced(rank, false);
  for (const auto axis : *axes) reduced[c.require_axis(axis, kReduceAxes, rank)] = true;
  PartialShape out;
  for (i64 i = 0; i < rank; ++i) {
    if (!reduced[i]) out.push_back(data[i]);
    else if (keep) out.push_back(Dim(1));
  }
  c.output(0, std::move(out));
}

ReducePlan::ReducePlan(const Shape& shape, std::span<const i64> axes) {
  const auto rank = shape.rank();
  Shape reduced(rank, 0);  // as booleans, without an allocation
  for (const auto axis : axes) reduced[axis < 0 ? axis + rank : axis] = 1;

  Shape kept, dropped;
  for (std::size_t i = 0; i < shape.size(); ++i) (reduced[i] != 0 ? dropped : kept).push_back(shape[i]);
  // Beside an axis of 0 the others may be of any length: a product that overflows has no elements to count.
  outputs = checked_product(kept).value_or(0);
  each = checked_product(dropped).value_or(0);
  if (outputs == 0 || each == 0) {
    run = 0;
    return;
  }
  Shape kind, merged;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    if (!kind.empty() && kind.back() == reduced[i]) {
      merged.back() *= shape[i];
    } else {
      kind.push_back(reduced[i]);
      merged.push_back(shape[i]);
    }
  }
  if (merged.empty()) return;
  Shape strides(merged.size(), 0);
  i64 stride = 1;
  for (auto i = merged.size(); i-- > 0;) {
    if (kind[i] != 0) continue;
    strides[i] = stride;
    stride *= merged[i];
  }
  run = merged.back();
  run_is_reduced = kind.back() != 0;
  outer = Shape(merged.begin(), merged.end() - 1);
  outer_strides = Shape(strides.begin(), strides.end() - 1);
}

void bounds_reduce(InferContext& c, Interval init, Interval (*fold)(Interval, Interval)) {
  const auto data = c.intervals(kReduceData);
  const auto axes = c.ints(kReduceAxes);
  if (!data || !axes || !c.shape(kReduceData).is_static()) return;
  const ReducePlan plan(c.shape(kReduceData).to_shape(), *axes);
  std::vector<Interval> states(plan.outputs, init);
  reduce<Interval>(plan, data->data(), states, fold);
  c.output_bounds(0, std::move(states));
}

}  // namespace ovir
