#include "fast/kernels/convolution/reorder.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kRun = 256;  // pixels at a time

/// Calls part(image and block, channels there, first pixel, pixels) for all runs of pixels of all blocks.
template <class Body>
void for_runs(i64 batch, i64 channels, i64 plane, ThreadPool& pool, Body part) {
  const auto blocks = blocks_of(channels), runs = ceil_div(plane, kRun);
  parallel_ranges(pool, batch * blocks * runs, kRun * 3, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto block = i / runs, first = i % runs * kRun;
      part(block / blocks, block % blocks, std::min(kBlock, channels - block % blocks * kBlock), first,
           std::min(kRun, plane - first));
    }
  });
}

}  // namespace

void to_blocked(const float* in, float* out, i64 batch, i64 channels, i64 plane, ThreadPool& pool) {
  const auto& table = isa();
  for_runs(batch, channels, plane, pool, [&](i64 image, i64 block, i64 count, i64 first, i64 pixels) {
    auto* to = out + ((image * blocks_of(channels) + block) * plane + first) * kBlock;
    if (count < kBlock) std::fill_n(to, pixels * kBlock, 0.0f);
    table.transpose(in + (image * channels + block * kBlock) * plane + first, plane, to, kBlock, count, pixels);
  });
}

void to_plain(const float* in, float* out, i64 batch, i64 channels, i64 plane, ThreadPool& pool) {
  const auto& table = isa();
  for_runs(batch, channels, plane, pool, [&](i64 image, i64 block, i64 count, i64 first, i64 pixels) {
    table.transpose(in + ((image * blocks_of(channels) + block) * plane + first) * kBlock, kBlock,
                    out + (image * channels + block * kBlock) * plane + first, plane, pixels, count);
  });
}

}  // namespace ovir::fast
