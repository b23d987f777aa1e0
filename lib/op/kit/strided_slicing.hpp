// Which elements Slice and StridedSlice take; the fast tier reads it, too.
#pragma once
#include <memory_resource>
#include <optional>
#include <span>
#include <vector>

#include "tensor/shape.hpp"

namespace ovir {

/// First and last index (the latter excluded) of a slice along an axis of `length`, and how many elements it takes.
struct AxisSlice {
  i64 first = 0, count = 0;
};
/// Negative `start` and `stop` count from the end; then both are clamped to the axis: to [0, length] when going
/// forwards, `start` to [0, length - 1] and `stop` to [-1, length] when going backwards. `step` is not 0.
AxisSlice slice_axis(i64 length, i64 start, i64 stop, i64 step);

struct StridedSliceAttrs {
  std::vector<i64> begin_mask, end_mask, new_axis_mask, shrink_axis_mask, ellipsis_mask;
};

namespace strided_slicing {

/// "If the length of the bitmask is less than the length of the corresponding input, it is assumed that the bitmask is
/// extended with zeros."
inline bool is_set(const std::vector<i64>& mask, i64 i) { return i < std::ssize(mask) && mask[i] == 1; }

enum class Action { slice, shrink, new_axis, keep };

/// What is done with an axis: `entry` is the position in begin, end and stride; `axis` that of the data (-1: none).
struct AxisAction {
  Action action;
  i64 entry;
  i64 axis;
};

/// The steps for data of `rank` axes with `entries` elements in begin. Where several masks name one entry, ellipsis
/// goes before new axis and new axis before shrink. Nothing where the entries need more axes than there are.
std::optional<std::pmr::vector<AxisAction>> steps_of(
    const StridedSliceAttrs& a, i64 rank, i64 entries,
    std::pmr::memory_resource* memory = std::pmr::get_default_resource());

/// Where the elements lie in data of shape `from`; `strides` may be empty.
struct Part {
  i64 first = 0;
  Shape shape, walk;
};
Part part_of(const StridedSliceAttrs& a, const Shape& from, std::span<const i64> begins, std::span<const i64> ends,
             std::span<const i64> strides, std::pmr::memory_resource* memory = std::pmr::get_default_resource());

}  // namespace strided_slicing
}  // namespace ovir
