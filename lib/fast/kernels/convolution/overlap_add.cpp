#include "fast/kernels/convolution/overlap_add.hpp"

#include <algorithm>

#include "fast/kernels/convolution/phase.hpp"

namespace ovir::fast {
namespace {

/// Along one axis: patch i begins at i·stride - pad, taps are `dilation` apart.
struct Axis {
  i64 stride, pad, dilation, kernel, count;

  i64 start(i64 patch) const { return patch * stride - pad; }
  /// The first patch that reaches `place` or what lies behind it, and the first that begins behind it.
  i64 first(i64 place) const {
    const auto beyond = place + pad - (kernel - 1) * dilation;
    return std::clamp<i64>(beyond <= 0 ? 0 : ceil_div(beyond, stride), 0, count);
  }
  i64 last(i64 place) const { return place + pad < 0 ? 0 : std::min(count, (place + pad) / stride + 1); }
};

}  // namespace

bool overlap_add_pays(const ConvolutionShape& s) {
  constexpr i64 kFewOutputs = kBlock / 4, kManyTaps = 32;
  constexpr double kMostPatches = 64 << 20;  // floats of an image
  if (static_cast<double>(s.plane() * s.outputs) * static_cast<double>(s.taps()) > kMostPatches) return false;
  const bool few = s.groups == 1 && s.outputs <= kFewOutputs && s.taps() >= kManyTaps;
  return s.taps() > kMaxTaps || std::max(s.stride_y, s.stride_x) > kMaxStride ||
         (few && s.stride_y * s.stride_x * s.outputs > kBlock);
}

BatchedProduct patches_of(const ConvolutionShape& s) {
  BatchedProduct p;
  p.m = s.plane();
  p.n = s.group_outputs() * s.taps();
  p.k = s.group_channels();
  p.a_transposed = true;
  p.a_matrices = s.batch * s.groups;
  p.b_matrices = s.groups;
  for (i64 i = 0; i < p.a_matrices; ++i) {
    p.a.push_back(i);
    p.b.push_back(i % s.groups);
  }
  return p;
}

void overlap_add(const ConvolutionShape& s, const float* patches, float* out, ThreadPool& pool) {
  constexpr i64 kRun = 2048;  // columns of an output row at a time
  const Axis rows{s.stride_y, s.pad_top, s.dilation_y, s.kernel_height, s.height},
      columns{s.stride_x, s.pad_left, s.dilation_x, s.kernel_width, s.width};
  const auto each = s.group_outputs(), runs = ceil_div(s.out_width, kRun), pixel = each * s.taps();
  const auto overlaps = static_cast<double>(s.taps()) / static_cast<double>(s.stride_x * s.stride_y);
  const auto cost = static_cast<double>(std::min(kRun, s.out_width)) * (1 + overlaps) / 8;
  parallel_ranges(pool, s.batch * s.outputs * s.out_height * runs, cost, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto from = i % runs * kRun, until = std::min(s.out_width, from + kRun), y = i / runs % s.out_height;
      const auto plane = i / runs / s.out_height, output = plane % s.outputs, image = plane / s.outputs;
      auto* row = out + (plane * s.out_height + y) * s.out_width;
      std::fill(row + from, row + until, 0.0f);
      const auto* group = patches + (image * s.groups + output / each) * s.plane() * pixel + output % each * s.taps();
      for (auto v = rows.first(y); v < rows.last(y); ++v) {
        if ((y - rows.start(v)) % s.dilation_y != 0) continue;
        const auto line = (y - rows.start(v)) / s.dilation_y * s.kernel_width;
        for (auto h = columns.first(from); h < columns.last(until - 1); ++h) {
          const auto* taps = group + (v * s.width + h) * pixel + line;
          const auto start = columns.start(h), d = s.dilation_x;
          const auto t0 = start < from ? ceil_div(from - start, d) : 0,
                     t1 = std::min(s.kernel_width, ceil_div(until - start, d));
          if (d == 1)
            for (auto t = t0; t < t1; ++t) row[start + t] += taps[t];
          else
            for (auto t = t0; t < t1; ++t) row[start + t * d] += taps[t];
        }
      }
    }
  });
}

}  // namespace ovir::fast
