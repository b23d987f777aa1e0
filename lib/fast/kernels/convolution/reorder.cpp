#include "fast/kernels/convolution/reorder.hpp"

#include "fast/kernels/convolution/runs.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kRun = 256;  // pixels at a time

}  // namespace

void to_blocked(const float* in, float* out, i64 batch, i64 channels, i64 plane, ThreadPool& pool) {
  const auto& table = isa();
  parallel_runs(
      batch, blocks_of(channels), plane, kRun, kRun * 3, pool, [&](i64 image, i64 block, i64 first, i64 pixels) {
        const auto count = std::min(kBlock, channels - block * kBlock);
        auto* to = out + ((image * blocks_of(channels) + block) * plane + first) * kBlock;
        if (count < kBlock) std::fill_n(to, pixels * kBlock, 0.0f);
        table.transpose(in + (image * channels + block * kBlock) * plane + first, plane, to, kBlock, count, pixels);
      });
}

void to_plain(const float* in, float* out, i64 batch, i64 channels, i64 plane, ThreadPool& pool) {
  const auto& table = isa();
  parallel_runs(batch, blocks_of(channels), plane, kRun, kRun * 3, pool,
                [&](i64 image, i64 block, i64 first, i64 pixels) {
                  const auto count = std::min(kBlock, channels - block * kBlock);
                  table.transpose(in + ((image * blocks_of(channels) + block) * plane + first) * kBlock, kBlock,
                                  out + (image * channels + block * kBlock) * plane + first, plane, pixels, count);
                });
}

}  // namespace ovir::fast
