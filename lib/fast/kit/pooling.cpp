#include "fast/kit/pooling.hpp"

#include "fast/kernels/convolution/bf16.hpp"
#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kernels/pooling/blocked.hpp"

namespace ovir::fast {

namespace {

/// What window `o` reads of an axis of `length`: no taps, or less, where all of them are beside it.
PoolWindow window_on(const Window& w, i64 length, i64 o) {
  const auto first = o * w.stride - w.pad_begin;
  const auto skipped = first < 0 ? ceil_div(-first, w.dilation) : 0,
             end = first < length ? ceil_div(length - first, w.dilation) : 0;
  return {first + skipped * w.dilation, std::min(end, w.kernel) - skipped};
}

}  // namespace

bool has_empty_window(const Window& w, i64 length, i64 count) {
  for (i64 o = 0; o < count; ++o)
    if (window_on(w, length, o).taps < 1) return true;
  return false;
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
  if (s.taps() > kMaxPoolTaps || has_empty_window(rows, s.height, s.out_height) ||
      has_empty_window(columns, s.width, s.out_width))
    return std::nullopt;
  return pooled;
}

namespace {

/// windows(axis, spatial axis, its length, how many windows).
template <class Windows>
std::optional<PlanarPooling> with_windows(bool maximum, std::span<const i64> in, std::span<const i64> out,
                                          Windows windows) {
  const auto spatial = in.size() - 2;
  if (in.size() < 3 || spatial > 3) return std::nullopt;
  PlanarPooling pooling;
  pooling.maximum = maximum;
  pooling.planes = in[0] * in[1];
  for (std::size_t i = 0; i < spatial; ++i) {
    auto& axis = pooling.axes[3 - spatial + i];
    axis.in = in[i + 2];
    axis.windows.clear();
    axis.windows.reserve(static_cast<std::size_t>(out[i + 2]));
    windows(axis, i, axis.in, out[i + 2]);
  }
  return pooling.begin() ? std::optional(std::move(pooling)) : std::nullopt;
}

}  // namespace

std::optional<PlanarPooling> planar_pooling(const PoolAttrs& attrs, bool maximum, std::span<const i64> in,
                                            std::span<const i64> out) {
  bool padded = false;
  i64 kernel = 1;
  auto pooling = with_windows(maximum, in, out, [&](PoolAxis& axis, std::size_t i, i64 length, i64 count) {
    const auto w = attrs.window(i).resolved(length);
    padded = padded || w.pad_begin != 0 || w.pad_end != 0;
    kernel *= w.kernel;
    axis.dilation = w.dilation;
    for (i64 o = 0; o < count; ++o) axis.windows.push_back(window_on(w, length, o));
  });
  // Where there is padding, and it counts, so does all of the kernel.
  if (pooling && !maximum && padded && !attrs.exclude_pad) pooling->divisor = kernel;
  return pooling;
}

std::optional<PlanarPooling> adaptive_pooling(bool maximum, std::span<const i64> in, std::span<const i64> out) {
  return with_windows(maximum, in, out, [](PoolAxis& axis, std::size_t, i64 length, i64 count) {
    for (i64 o = 0; o < count; ++o) {
      const auto first = o * length / count;
      axis.windows.push_back({first, ceil_div((o + 1) * length, count) - first});
    }
  });
}

void store_pooled(ElementType type, const float* pooled, const U8Table* table, const View& out, ThreadPool& pool) {
  const auto batch = out.dim(0), channels = out.dim(1), plane = plane_of(out);
  const bool blocked = out.layout == Layout::blocked;
  if (type == ElementType::u8)
    return from_u8_blocked(reinterpret_cast<const std::uint8_t*>(pooled), table->scale(), out.as<float>(), blocked,
                           batch, channels, plane, pool);
  if (type == ElementType::bf16)
    return from_bf16_blocked(reinterpret_cast<const Word*>(pooled), out.as<float>(), blocked, batch, channels, plane,
                             pool);
  if (out.type == ElementType::f32) return to_plain(pooled, out.as<float>(), batch, channels, plane, pool);
  if (out.type == ElementType::u8)
    return to_u8_blocked(pooled, true, table->scale(), reinterpret_cast<std::uint8_t*>(out.data), batch, channels,
                         plane, pool);
  to_bf16_blocked(pooled, true, reinterpret_cast<Word*>(out.data), batch, channels, plane, pool);
}

}  // namespace ovir::fast
