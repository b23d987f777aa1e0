#include "fast/kernels/pooling/blocked.hpp"

#include <array>

namespace ovir::fast {
namespace {

struct PlaneTaps {
  i64 begin, end;                ///< taps within the plane
  i64 padded_begin, padded_end;  ///< taps within the padded plane
};

PlaneTaps window(i64 place, i64 stride, i64 pad, i64 dilation, i64 taps, i64 size, i64 pad_end) {
  const auto first = place * stride - pad;
  const auto clip = [&](i64 low, i64 high) {  // taps at low <= first + tap·dilation < high
    const auto begin = std::min(first < low ? ceil_div(low - first, dilation) : 0, taps);
    return std::pair{begin, std::clamp(first >= high ? 0 : (high - 1 - first) / dilation + 1, begin, taps)};
  };
  const auto [begin, end] = clip(0, size);
  const auto [padded_begin, padded_end] = clip(-pad, size + pad_end);
  return {begin, end, padded_begin, padded_end};
}

struct Pooling {
  PoolLoop loop;
  const ConvolutionShape& s;
  i64 pad_bottom, pad_right;
  bool maximum, counts_padding;

  PlaneTaps right(i64 x) const {
    return window(x, s.stride_x, s.pad_left, s.dilation_x, s.kernel_width, s.width, pad_right);
  }

  /// `count` columns from x on, which have the same window.
  void run(const float* plane, float* out, const PlaneTaps& down, const PlaneTaps& across, i64 y, i64 x,
           i64 count) const {
    std::array<i64, kMaxPoolTaps> taps;
    const auto corner = (y * s.stride_y - s.pad_top) * s.width + x * s.stride_x - s.pad_left;
    i64 n = 0;
    for (auto r = down.begin; r < down.end; ++r)
      for (auto c = across.begin; c < across.end; ++c)
        taps[n++] = (corner + r * s.dilation_y * s.width + c * s.dilation_x) * kBlock;
    const auto size =
        counts_padding ? (down.padded_end - down.padded_begin) * (across.padded_end - across.padded_begin) : n;
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
    const auto down = window(y, s.stride_y, s.pad_top, s.dilation_y, s.kernel_height, s.height, pad_bottom);
    for (i64 x = 0; x < s.out_width;) {
      // Columns whose windows lie wholly within the plane are done together.
      const auto across = right(x);
      auto next = x + 1;
      if (across.begin == 0 && across.end == s.kernel_width)
        while (next < s.out_width && right(next).begin == 0 && right(next).end == s.kernel_width) ++next;
      run(plane, out, down, across, y, x, next - x);
      x = next;
    }
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
