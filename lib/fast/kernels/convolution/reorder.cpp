#include "fast/kernels/convolution/reorder.hpp"

#include <cstring>

#include "fast/kernels/convolution/runs.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kRun = 256;      // pixels at a time
constexpr i64 kFewPixels = 8;  // whose lines of one block are copied before those of the next

/// copy(row's line, block's line), for each 16 channels of each pixel.
template <class Copy>
void for_lines(i64 batch, i64 channels, i64 plane, ThreadPool& pool, Copy copy) {
  const auto blocks = channels / kBlock, groups = ceil_div(plane, kFewPixels);
  parallel_ranges(pool, batch * groups, static_cast<double>(channels * kFewPixels) / 8, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto image = i / groups * plane, first = i % groups * kFewPixels,
                 last = std::min(plane, first + kFewPixels);
      for (i64 block = 0; block < blocks; ++block)
        for (auto p = first; p < last; ++p)
          copy(((image + p) * blocks + block) * kBlock, (image * blocks + block * plane + p) * kBlock);
    }
  });
}

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

void rows_to_blocked(const float* in, float* out, i64 batch, i64 channels, i64 plane, ThreadPool& pool) {
  for_lines(batch, channels, plane, pool,
            [&](i64 row, i64 block) { std::memcpy(out + block, in + row, kBlock * sizeof(float)); });
}

void blocked_to_rows(const float* in, float* out, i64 batch, i64 channels, i64 plane, ThreadPool& pool) {
  for_lines(batch, channels, plane, pool,
            [&](i64 row, i64 block) { std::memcpy(out + row, in + block, kBlock * sizeof(float)); });
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
