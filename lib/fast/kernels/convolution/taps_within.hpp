// Which taps of a window lie within the plane.
#pragma once
#include <algorithm>

#include "fast/kernels/convolution/shape.hpp"

namespace ovir::fast {

struct TapRange {
  i64 begin, end;
  i64 size() const { return end - begin; }
};

/// Taps of one axis that lie within an input of `size` at output `place`.
inline TapRange taps_within(i64 place, i64 stride, i64 pad, i64 dilation, i64 taps, i64 size) {
  const auto first = place * stride - pad;
  const auto begin = std::min(first < 0 ? ceil_div(-first, dilation) : 0, taps);
  return {begin, std::clamp(first >= size ? 0 : (size - 1 - first) / dilation + 1, begin, taps)};
}

/// Output columns whose taps all lie within the input.
inline TapRange inner_columns(const ConvolutionShape& s) {
  const auto begin = std::min(ceil_div(s.pad_left, s.stride_x), s.out_width);
  const auto last = s.width - 1 - (s.kernel_width - 1) * s.dilation_x + s.pad_left;
  return {begin, last < 0 ? begin : std::clamp(last / s.stride_x + 1, begin, s.out_width)};
}

}  // namespace ovir::fast
