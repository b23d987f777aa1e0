#include "fast/kernels/selection/near_boxes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fast/isa/lines.hpp"
#include "fast/kernels/chunks.hpp"

namespace ovir::fast {

i64 NearBoxes::size(i64 most) {
  constexpr auto kGroup = static_cast<i64>(sizeof(Group) / sizeof(float));
  return (ceil_div(most * kMostCells, kTogether) + kCells) * kGroup;
}

NearBoxes::NearBoxes(float* memory) : groups_(reinterpret_cast<Group*>(memory)) {
  constexpr auto kInfinity = std::numeric_limits<float>::infinity();
  axes_.fill({kInfinity, -kInfinity, 0});
  last_.fill(-1);
}

void NearBoxes::measure(const BoxNumbers& box) {
  for (int axis = 0; axis < 2; ++axis) {
    auto& a = axes_[axis];
    const auto begin = box[axis], end = box[axis + 2];
    a.low = std::min({a.low, begin, end});
    a.high = std::max({a.high, begin, end});
    a.lengths += std::abs(static_cast<double>(end) - begin);
  }
  ++boxes_;
}

bool NearBoxes::divide() {
  constexpr float kLargest = 1e18F;  // whose products are finite
  constexpr i64 kFewest = 4;
  double most = 0;
  for (int axis = 0; axis < 2; ++axis) {
    const auto& a = axes_[axis];
    if (!(a.low > -kLargest && a.high < kLargest) || !std::isfinite(a.lengths)) return false;
    const auto cells = (static_cast<double>(a.high) - a.low) / std::max(a.lengths / static_cast<double>(boxes_), 1e-30);
    if (cells <= most) continue;
    most = cells;
    axis_ = axis;
  }
  cells_ = static_cast<i64>(std::min(most, static_cast<double>(kCells)));
  scale_ =
      static_cast<float>(static_cast<double>(cells_) / (static_cast<double>(axes_[axis_].high) - axes_[axis_].low));
  return cells_ >= kFewest && std::isfinite(scale_);
}

/// Grows with `at`, also as it is rounded: what overlaps has a cell in common.
i64 NearBoxes::cell(float at) const {
  return std::clamp(static_cast<i64>((at - axes_[axis_].low) * scale_), i64{0}, cells_ - 1);
}

bool NearBoxes::add(const BoxNumbers& box) {
  const auto begin = cell(box[axis_]), end = cell(box[axis_ + 2]) + 1;
  if (end - begin > kMostCells) return false;
  for (auto c = begin; c < end; ++c) {
    auto& last = last_[c];
    if (last < 0 || groups_[last].count == kTogether) {
      groups_[used_].count = 0;
      groups_[used_].before = last;
      last = used_++;
    }
    auto& group = groups_[last];
    for (i64 k = 0; k < kBox; ++k) group.numbers[k * kTogether + group.count] = box[k];
    ++group.count;
  }
  return true;
}

bool NearBoxes::overlaps(const LineTable& table, const BoxNumbers& box, float most) const {
  const auto begin = cell(box[axis_]), end = cell(box[axis_ + 2]) + 1;
  for (auto c = begin; c < end; ++c)
    for (auto i = last_[c]; i >= 0; i = groups_[i].before)
      if (table.overlaps(box.data(), groups_[i].numbers.data(), kTogether, groups_[i].count, most)) return true;
  return false;
}

}  // namespace ovir::fast
