#include "fast/kit/reached_taps.hpp"

namespace ovir::fast {
namespace {

/// Taps along an axis. The first is never one behind the first pixel, so that what is left of the padding is positive.
Part reached(i64 kernel, i64 stride, i64 dilation, i64 pad, i64 length, i64 out_length) {
  const auto reads = [&](i64 tap) {
    const auto first = tap * dilation - pad;
    const auto i = first < 0 ? ceil_div(-first, stride) : 0;  // the first output that does not read before the data
    return i < out_length && i * stride + first < length;
  };
  i64 begin = 0, end = kernel;
  while (begin < end && (begin + 1) * dilation <= pad && !reads(begin)) ++begin;
  while (begin < end && !reads(end - 1)) --end;
  return {begin, end};
}

}  // namespace

std::optional<ReachedTaps> reached_taps(const StaticConvolution& convolution) {
  const auto& s = convolution.shape;
  if (convolution.open || convolution.transposed) return std::nullopt;
  const ReachedTaps taps{reached(s.kernel_height, s.stride_y, s.dilation_y, s.pad_top, s.height, s.out_height),
                         reached(s.kernel_width, s.stride_x, s.dilation_x, s.pad_left, s.width, s.out_width)};
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

Filters ReachedTaps::of(const Filters& filters, const ConvolutionShape& whole) const {
  std::vector<float> own;
  const auto count = whole.outputs * whole.group_channels();
  own.reserve(static_cast<std::size_t>(count * rows.size() * columns.size()));
  for (i64 i = 0; i < count; ++i)
    for (auto y = rows.begin; y < rows.end; ++y) {
      const auto* row = filters.data() + i * whole.taps() + y * whole.kernel_width;
      own.insert(own.end(), row + columns.begin, row + columns.end);
    }
  return Filters(std::move(own));
}

}  // namespace ovir::fast
