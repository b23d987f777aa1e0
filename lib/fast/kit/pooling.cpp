#include "fast/kit/pooling.hpp"

#include "fast/kernels/pooling/blocked.hpp"

namespace ovir::fast {

bool hangs_over(const Window& w, i64 length, i64 count) {
  return w.pad_begin >= w.extent() || (count - 1) * w.stride + w.extent() - length - w.pad_begin >= w.extent();
}

bool goes_beyond(const PoolAttrs& attrs, std::span<const i64> in, std::span<const i64> out) {
  for (std::size_t i = 2; i < in.size(); ++i) {
    const auto w = attrs.window(i - 2).resolved(in[i]);
    if ((out[i] - 1) * w.stride + w.extent() > w.pad_begin + in[i] + w.pad_end) return true;
  }
  return false;
}

std::optional<PooledShape> pooled_shape(const PoolAttrs& attrs, std::span<const i64> in, std::span<const i64> out) {
  const auto rank = in.size();
  if (rank < 3) return std::nullopt;
  PooledShape pooled;
  auto& s = pooled.shape;
  s.batch = in[0];
  s.channels = s.outputs = s.groups = in[1];
  s.height = rank > 3 ? in[rank - 2] : 1;
  s.width = in[rank - 1];
  s.out_height = rank > 3 ? out[rank - 2] : 1;
  s.out_width = out[rank - 1];
  const auto rows = rank > 3 ? attrs.window(rank - 4).resolved(s.height) : Window(),
             columns = attrs.window(rank - 3).resolved(s.width);
  s.kernel_height = rows.kernel;
  s.kernel_width = columns.kernel;
  s.stride_y = rows.stride;
  s.stride_x = columns.stride;
  s.dilation_y = rows.dilation;
  s.dilation_x = columns.dilation;
  s.pad_top = rows.pad_begin;
  s.pad_left = columns.pad_begin;
  pooled.pad_bottom = rows.pad_end;
  pooled.pad_right = columns.pad_end;
  if (s.taps() > kMaxPoolTaps || hangs_over(rows, s.height, s.out_height) || hangs_over(columns, s.width, s.out_width))
    return std::nullopt;
  return pooled;
}

}  // namespace ovir::fast
