#include "fast/kit/reached_taps.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "fast/kernels/convolution/reached.hpp"

namespace ovir::fast {

std::optional<ReachedTaps> reached_taps(const StaticConvolution& convolution) {
  const auto& s = convolution.shape;
  if (convolution.open || convolution.transposed) return std::nullopt;
  ReachedTaps taps{reached(s.kernel_height, s.stride_y, s.dilation_y, s.pad_top, s.height, s.out_height),
                   reached(s.kernel_width, s.stride_x, s.dilation_x, s.pad_left, s.width, s.out_width)};
  // What is left of the padding is not negative.
  taps.rows.begin = std::min(taps.rows.begin, s.pad_top / s.dilation_y);
  taps.columns.begin = std::min(taps.columns.begin, s.pad_left / s.dilation_x);
  const auto count = taps.rows.size() * taps.columns.size();
  return count > 0 && count < s.taps() ? std::optional(taps) : std::nullopt;
}

StaticConvolution ReachedTaps::of(StaticConvolution convolution) const {
  auto& s = convolution.shape;
  s.kernel_height = rows.size();
  s.kernel_width = columns.size();
  s.pad_top -= rows.begin * s.dilation_y;
  s.pad_left -= columns.begin * s.dilation_x;
  auto& attrs = convolution.windows.attrs;
  attrs.auto_pad = AutoPad::given;
  attrs.pads_begin = convolution.rank > 3 ? std::vector{s.pad_top, s.pad_left} : std::vector{s.pad_left};
  return convolution;
}

Tensor ReachedTaps::of(const Tensor& filters, const ConvolutionShape& whole) const {
  const auto count = whole.outputs * whole.group_channels();
  Tensor own(ElementType::f32, {count, rows.size(), columns.size()});
  const auto* from = filters.data<float>();
  auto* to = own.mutable_data<float>();
  for (i64 i = 0; i < count; ++i)
    for (auto y = rows.begin; y < rows.end; ++y) {
      const auto* row = from + i * whole.taps() + y * whole.kernel_width;
      to = std::copy(row + columns.begin, row + columns.end, to);
    }
  return own;
}

std::string ReachedTaps::name(const ConvolutionShape& whole) const {
  return fmt::format("{} {} of {} {}", rows.begin, columns.begin, whole.kernel_height, whole.kernel_width);
}

}  // namespace ovir::fast
