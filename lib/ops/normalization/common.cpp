#include "ops/normalization/common.hpp"

namespace ovir::ops::normalization {

void require_unique_axes(const InferContext& c, const std::vector<i64>& axes, int port, i64 rank,
                         std::string_view attribute) {
  std::vector<bool> seen(rank);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = axes[i];
    const auto at = c.require_axis(axis, port, rank, attribute, i);
    if (seen[at] && port >= 0)
      c.fail_at(port, Code::E0508,
                fmt::format("input \"{}\" of {} must name each axis once, but names axis {} twice", c.port_name(port),
                            c.op().type, axis));
    if (seen[at])
      c.fail_attr(attribute, fmt::format("must name each axis once, but names axis {} twice", axis), Code::E0403, i);
    seen[at] = true;
  }
}

PartialShape infer_axes(const InferContext& c, int port) {
  c.require_rank(port, 0, 1);
  const auto& data = c.shape(0);
  const auto axes = c.ints(port);
  if (!data.has_rank()) return data;
  c.require(axis_count(c.shape(port)).min <= data.rank(), port, Code::E0506,
            "input \"{}\" of {} must not name more than the {} axes of \"data\"", c.port_name(port), c.op().type,
            data.rank());
  if (axes) require_unique_axes(c, *axes, port, data.rank());
  return data;
}

Slices::Slices(const Shape& shape, const Shape& axes, std::pmr::memory_resource* memory)
    : starts(memory), offsets(memory) {
  const auto rank = shape.rank();
  const auto strides = strides_of(shape);
  Shape kept = shape, reduced(shape.size(), 1);
  for (const auto axis : axes) {
    const auto at = axis < 0 ? axis + rank : axis;
    reduced[at] = shape[at];
    kept[at] = 1;
  }
  for (IndexWalker at(kept); !at.done(); at.next()) starts.push_back(at.offset(strides));
  for (IndexWalker at(reduced); !at.done(); at.next()) offsets.push_back(at.offset(strides));
}

}  // namespace ovir::ops::normalization
