#include "fast/kernels/convolution/phase.hpp"

#include <algorithm>

namespace ovir::fast {

void Phase::finish(const ConvolutionShape& s) {
  i64 low_y = 0, high_y = 0, low_x = 0, high_x = 0;
  for (i64 i = 0; i < taps; ++i) {
    low_y = std::min(low_y, dy[i]);
    high_y = std::max(high_y, dy[i]);
    low_x = std::min(low_x, dx[i]);
    high_x = std::max(high_x, dx[i]);
  }
  lowest = high_y;
  top = -low_y;
  left = -low_x;
  bottom = std::max<i64>(0, (out_rows - 1) * stride_y + high_y - s.height + 1);
  right = std::max<i64>(0, (out_columns - 1) * stride_x + high_x - s.width + 1);
  padded_width = left + s.width + right;
}

Phase forward(const ConvolutionShape& s) {
  Phase p;
  p.out_rows = s.out_height;
  p.out_columns = s.out_width;
  p.stride_y = s.stride_y;
  p.stride_x = s.stride_x;
  for (i64 i = 0; i < s.kernel_height; ++i)
    for (i64 j = 0; j < s.kernel_width; ++j, ++p.taps) {
      p.dy[p.taps] = i * s.dilation_y - s.pad_top;
      p.dx[p.taps] = j * s.dilation_x - s.pad_left;
    }
  p.finish(s);
  return p;
}

bool reaches(i64 place, i64 tap, i64 dilation, i64 stride) { return (place - tap * dilation) % stride == 0; }

Phase backward(const ConvolutionShape& s, i64 y, i64 x) {
  Phase p;
  p.out_y = y;
  p.out_x = x;
  p.out_stride_y = s.stride_y;
  p.out_stride_x = s.stride_x;
  p.out_rows = ceil_div(s.out_height - y, s.stride_y);
  p.out_columns = ceil_div(s.out_width - x, s.stride_x);
  for (i64 i = 0; i < s.kernel_height; ++i)
    for (i64 j = 0; j < s.kernel_width; ++j) {
      if (!reaches(y + s.pad_top, i, s.dilation_y, s.stride_y) || !reaches(x + s.pad_left, j, s.dilation_x, s.stride_x))
        continue;
      p.dy[p.taps] = (y + s.pad_top - i * s.dilation_y) / s.stride_y;
      p.dx[p.taps] = (x + s.pad_left - j * s.dilation_x) / s.stride_x;
      ++p.taps;
    }
  p.finish(s);
  return p;
}

Phase all_phases(const ConvolutionShape& s) {
  auto all = backward(s, 0, 0);
  for (i64 y = 0; y < s.stride_y; ++y)
    for (i64 x = 0; x < s.stride_x; ++x) {
      const auto p = backward(s, y, x);
      all.taps = std::max(all.taps, p.taps);
      all.top = std::max(all.top, p.top);
      all.bottom = std::max(all.bottom, p.bottom);
      all.left = std::max(all.left, p.left);
      all.right = std::max(all.right, p.right);
      all.lowest = std::max(all.lowest, p.lowest);
    }
  all.padded_width = all.left + s.width + all.right;
  return all;
}

}  // namespace ovir::fast
