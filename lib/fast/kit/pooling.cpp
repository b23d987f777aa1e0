#include "fast/kit/pooling.hpp"

#include "fast/kernels/pooling/blocked.hpp"

namespace ovir::fast {

std::optional<PooledShape> pooled_shape(const PoolAttrs& attrs, std::span<const i64> in, std::span<const i64> out) {
  if (in.size() != 4) return std::nullopt;
  PooledShape pooled;
  auto& s = pooled.shape;
  s.batch = in[0];
  s.channels = s.outputs = s.groups = in[1];
  s.height = in[2];
  s.width = in[3];
  s.out_height = out[2];
  s.out_width = out[3];
  const auto rows = attrs.window(0).resolved(s.height), columns = attrs.window(1).resolved(s.width);
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
  const auto hangs = [](const Window& w, i64 length, i64 count) {
    return w.pad_begin >= w.extent() || (count - 1) * w.stride + w.extent() - length - w.pad_begin >= w.extent();
  };
  if (s.taps() > kMaxPoolTaps || hangs(rows, s.height, s.out_height) || hangs(columns, s.width, s.out_width))
    return std::nullopt;
  return pooled;
}

}  // namespace ovir::fast
