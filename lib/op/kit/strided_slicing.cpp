#include "op/kit/strided_slicing.hpp"

#include <algorithm>
#include <limits>

namespace ovir {

AxisSlice slice_axis(i64 length, i64 start, i64 stop, i64 step) {
  if (length == 0) return {};
  if (start < 0) start += length;
  if (stop < 0) stop += length;
  AxisSlice s;
  // Unsigned, for -step where step is the smallest i64.
  const auto stride = step < 0 ? 0 - static_cast<std::uint64_t>(step) : static_cast<std::uint64_t>(step);
  if (step > 0) {
    s.first = std::clamp<i64>(start, 0, length);
    stop = std::clamp<i64>(stop, 0, length);
  } else {
    s.first = std::clamp<i64>(start, 0, length - 1);
    stop = std::clamp<i64>(stop, -1, length);
  }
  const auto distance = step > 0 ? stop - s.first : s.first - stop;
  if (distance > 0) s.count = static_cast<i64>((static_cast<std::uint64_t>(distance) - 1) / stride + 1);
  return s;
}

namespace strided_slicing {

std::optional<std::pmr::vector<AxisAction>> steps_of(const StridedSliceAttrs& a, i64 rank, i64 entries,
                                                     std::pmr::memory_resource* memory) {
  const auto bits = [](const std::vector<i64>& mask) { return std::count(mask.begin(), mask.end(), 1); };
  if (entries > rank + bits(a.new_axis_mask) + bits(a.ellipsis_mask)) return std::nullopt;
  i64 used = 0;
  bool ellipsis = false;
  for (i64 i = 0; i < entries; ++i) {
    if (is_set(a.ellipsis_mask, i)) ellipsis = true;
    else if (!is_set(a.new_axis_mask, i)) ++used;
  }
  if (used > rank) return std::nullopt;

  std::pmr::vector<AxisAction> steps(memory);
  i64 axis = 0;
  const auto keep = [&](i64 entry, i64 count) {
    for (i64 i = 0; i < count; ++i) steps.push_back({Action::keep, entry, axis++});
  };
  for (i64 i = 0; i < entries; ++i) {
    if (is_set(a.ellipsis_mask, i)) keep(i, rank - used);
    else if (is_set(a.new_axis_mask, i)) steps.push_back({Action::new_axis, i, -1});
    else steps.push_back({is_set(a.shrink_axis_mask, i) ? Action::shrink : Action::slice, i, axis++});
  }
  if (!ellipsis) keep(entries, rank - used);
  return steps;
}

Part part_of(const StridedSliceAttrs& a, const Shape& from, std::span<const i64> begins, std::span<const i64> ends,
             std::span<const i64> strides, std::pmr::memory_resource* memory) {
  const auto pitches = strides_of(from);
  Part part;
  const auto steps = steps_of(a, from.rank(), std::ssize(begins), memory);
  for (const auto& [action, i, axis] : *steps) {
    if (action == Action::new_axis) continue;
    const auto length = from[axis], pitch = pitches[axis];
    if (action == Action::keep) {
      part.shape.push_back(length);
      part.walk.push_back(pitch);
    } else if (action == Action::shrink) {
      const auto at = is_set(a.begin_mask, i) ? 0 : begins[i];
      part.first += (at < 0 ? at + length : at) * pitch;
    } else {
      constexpr auto kBeforeBegin = std::numeric_limits<i64>::min(), kPastEnd = std::numeric_limits<i64>::max();
      const auto step = strides.empty() ? 1 : strides[i];
      const auto start = !is_set(a.begin_mask, i) ? begins[i] : step > 0 ? 0 : kPastEnd;
      const auto stop = !is_set(a.end_mask, i) ? ends[i] : step > 0 ? kPastEnd : kBeforeBegin;
      const auto taken = slice_axis(length, start, stop, step);
      part.first += taken.first * pitch;
      part.shape.push_back(taken.count);
      part.walk.push_back(taken.count > 1 ? step * pitch : 0);  // a step past the axis is never taken, and may be huge
    }
  }
  return part;
}

}  // namespace strided_slicing
}  // namespace ovir
