#include "fast/kernels/normalization/channels.hpp"

#include <algorithm>

#include "fast/kernels/chunks.hpp"
#include "tensor/view.hpp"

namespace ovir::fast {
namespace {

constexpr double kNanoseconds = 0.12;  // an element

}  // namespace

void normalize_channels(const ChannelLines& lines, const float* x, float* y, i64 batch, i64 channels, i64 plane,
                        ThreadPool& pool) {
  const auto one = [&](i64 c, i64 at) { y[at] = (x[at] - lines.mean[c]) * lines.factor[c] + lines.beta[c]; };
  if (plane < kBlock) {
    const auto row = channels * plane;
    return parallel_ranges(pool, batch, 1 + static_cast<double>(row), [&](i64 begin, i64 end) {
      for (auto n = begin; n < end; ++n)
        for (i64 i = 0; i < row; ++i) one(i / plane, n * row + i);
    });
  }
  parallel_ranges(pool, batch * channels, 10 + kNanoseconds * static_cast<double>(plane), [&](i64 begin, i64 end) {
    for (auto row = begin; row < end; ++row) {
      const auto c = row % channels, pixels = plane / kBlock;
      float mean[kBlock], factor[kBlock], beta[kBlock];
      std::fill_n(mean, kBlock, lines.mean[c]);
      std::fill_n(factor, kBlock, lines.factor[c]);
      std::fill_n(beta, kBlock, lines.beta[c]);
      isa().lane_normalize(x + row * plane, mean, factor, beta, y + row * plane, pixels);
      for (auto i = pixels * kBlock; i < plane; ++i) one(c, row * plane + i);
    }
  });
}

void normalize_blocked_channels(const ChannelLines& lines, const float* x, float* y, i64 batch, i64 channels, i64 plane,
                                ThreadPool& pool) {
  const auto blocks = channels / kBlock, size = plane * kBlock;
  constexpr i64 kPixels = 256;  // of a chunk: a plane may be all there is
  const auto parts = ceil_div(plane, kPixels);
  const auto cost = kNanoseconds * static_cast<double>(std::min(plane, kPixels) * kBlock);
  parallel_ranges(pool, batch * blocks * parts, cost, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto block = i / parts, lane = block % blocks * kBlock;
      const Part part(plane, parts, i % parts);
      const auto at = block * size + part.begin * kBlock;
      isa().lane_normalize(x + at, lines.mean + lane, lines.factor + lane, lines.beta + lane, y + at, part.size());
    }
  });
}

}  // namespace ovir::fast
