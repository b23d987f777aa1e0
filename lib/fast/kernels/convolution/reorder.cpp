#include "fast/kernels/convolution/reorder.hpp"

#include "fast/kernels/convolution/runs.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kRun = 256;  // pixels at a time

}  // namespace

void to_blocked(const float* in, float* out, i64 batch, i64 channels, i64 plane, ThreadPool& pool, i64 slices) {
  const auto& table = isa();
  parallel_runs(batch * slices, blocks_of(channels), plane, kRun, kRun * 3, pool,
                [&](i64 slice, i64 block, i64 first, i64 pixels) {
                  const auto count = std::min(kBlock, channels - block * kBlock);
                  auto* to = out + ((slice * blocks_of(channels) + block) * plane + first) * kBlock;
                  if (count < kBlock) std::fill_n(to, pixels * kBlock, 0.0f);
                  const auto channel = slice / slices * channels + block * kBlock;
                  table.transpose(in + (channel * slices + slice % slices) * plane + first, slices * plane, to, kBlock,
                                  count, pixels);
                });
}

void to_plain(const float* in, float* out, i64 batch, i64 channels, i64 plane, ThreadPool& pool, i64 slices) {
  const auto& table = isa();
  parallel_runs(batch * slices, blocks_of(channels), plane, kRun, kRun * 3, pool,
                [&](i64 slice, i64 block, i64 first, i64 pixels) {
                  const auto count = std::min(kBlock, channels - block * kBlock);
                  const auto channel = slice / slices * channels + block * kBlock;
                  table.transpose(in + ((slice * blocks_of(channels) + block) * plane + first) * kBlock, kBlock,
                                  out + (channel * slices + slice % slices) * plane + first, slices * plane, pixels,
                                  count);
                });
}

void gather_pixels(const ConvolutionShape& s, const float* in, float* out, ThreadPool& pool) {
  const auto row = s.out_width * kBlock;
  parallel_ranges(pool, s.batch * blocks_of(s.channels) * s.out_height, static_cast<double>(row) / 8,
                  [&](i64 begin, i64 end) {
                    for (auto i = begin; i < end; ++i) {
                      const auto block = i / s.out_height, y = i % s.out_height * s.stride_y;
                      const float* from = in + (block * s.plane() + y * s.width) * kBlock;
                      for (i64 x = 0; x < s.out_width; ++x)
                        std::copy_n(from + x * s.stride_x * kBlock, kBlock, out + i * row + x * kBlock);
                    }
                  });
}

}  // namespace ovir::fast
