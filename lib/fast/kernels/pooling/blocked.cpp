#include "fast/kernels/pooling/blocked.hpp"

#include <array>

#include "fast/kernels/convolution/taps_within.hpp"

namespace ovir::fast {
namespace {

struct Pooling {
  PoolLoop loop;
  const ConvolutionShape& s;
  i64 pad_bottom, pad_right;
  bool maximum, counts_padding;
  TapRange inner = inner_columns(s);

  /// Windows that PoolBand takes.
  bool slides() const {
    const auto k = s.kernel_width;
    return loop.band && s.dilation_x == 1 && (k == 2 || k == 3 || k == 5) && (s.stride_x == 1 || s.stride_x == 2) &&
           (!counts_padding || (s.out_width - 1) * s.stride_x + k <= s.pad_left + s.width + pad_right);
  }

  /// Values of a window of the padded plane.
  i64 padded_size(i64 y, i64 x) const {
    const auto height = s.pad_top + s.height + pad_bottom, width = s.pad_left + s.width + pad_right;
    return taps_within(y, s.stride_y, 0, s.dilation_y, s.kernel_height, height).size() *
           taps_within(x, s.stride_x, 0, s.dilation_x, s.kernel_width, width).size();
  }

  void band(const float* plane, float* out, const TapRange& down, i64 y) const {
    loop.band({.columns = static_cast<int>(s.kernel_width),
               .stride = static_cast<int>(s.stride_x),
               .in = plane + (y * s.stride_y - s.pad_top + down.begin * s.dilation_y) * s.width * kBlock,
               .width = s.width,
               .first = -s.pad_left,
               .rows = down.size(),
               .row = s.dilation_y * s.width * kBlock,
               .out = out,
               .pixels = s.out_width,
               .maximum = maximum,
               .size = counts_padding ? static_cast<float>(padded_size(y, 0)) : 0.0F});
  }

  /// `count` columns from x on, which have the same window.
  void run(const float* plane, float* out, const TapRange& down, i64 y, i64 x, i64 count) const {
    const auto across = taps_within(x, s.stride_x, s.pad_left, s.dilation_x, s.kernel_width, s.width);
    std::array<i64, kMaxPoolTaps> taps;
    const auto corner = (y * s.stride_y - s.pad_top) * s.width + x * s.stride_x - s.pad_left;
    i64 n = 0;
    for (auto r = down.begin; r < down.end; ++r)
      for (auto c = across.begin; c < across.end; ++c)
        taps[n++] = (corner + r * s.dilation_y * s.width + c * s.dilation_x) * kBlock;
    const auto size = counts_padding ? padded_size(y, x) : n;
    loop.row({.in = plane,
              .taps = taps.data(),
              .tap_count = n,
              .step = s.stride_x * kBlock,
              .out = out + x * kBlock,
              .pixels = count,
              .maximum = maximum,
              .size = maximum || n == 0 ? 1.0f : static_cast<float>(size)});  // of nothing: 0
  }

  void row(const float* plane, float* out, i64 y) const {
    const auto down = taps_within(y, s.stride_y, s.pad_top, s.dilation_y, s.kernel_height, s.height);
    if (slides()) return band(plane, out, down, y);
    for (i64 x = 0; x < inner.begin; ++x) run(plane, out, down, y, x, 1);
    if (inner.size() > 0) run(plane, out, down, y, inner.begin, inner.size());
    for (auto x = inner.end; x < s.out_width; ++x) run(plane, out, down, y, x, 1);
  }

  void all(const float* in, float* out, ThreadPool& pool) const {
    const auto cost = static_cast<double>(s.out_width * s.taps()) * 2;
    const auto blocks = ceil_div(s.channels, loop.channels), height = s.out_height;
    const bool rows = by_rows(s.plane());
    parallel_ranges(pool, s.batch * blocks * height, cost, [&](i64 begin, i64 end) {
      for (auto i = begin; i < end; ++i) {
        const auto image = i / (blocks * height), rest = i % (blocks * height);
        const auto block = image * blocks + (rows ? rest % blocks : rest / height),
                   y = rows ? rest / blocks : rest % height;
        row(in + block * s.plane() * kBlock, out + (block * height + y) * s.out_width * kBlock, y);
      }
    });
  }
};

}  // namespace

void max_pool(const ConvolutionShape& s, const float* in, float* out, ThreadPool& pool, PoolLoop loop) {
  Pooling{loop, s, 0, 0, true, false}.all(in, out, pool);
}

void average_pool(const ConvolutionShape& s, i64 pad_bottom, i64 pad_right, bool counts_padding, const float* in,
                  float* out, ThreadPool& pool, PoolLoop loop) {
  Pooling{loop, s, pad_bottom, pad_right, false, counts_padding}.all(in, out, pool);
}

}  // namespace ovir::fast
