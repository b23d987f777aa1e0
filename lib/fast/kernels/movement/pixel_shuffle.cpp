#include "fast/kernels/movement/pixel_shuffle.hpp"

#include <array>

#include "fast/kernels/chunks.hpp"

namespace ovir::fast {

void shuffle_blocked(const PixelShuffle& w, const float* in, float* out, ThreadPool& pool) {
  const auto& table = isa();
  const auto r = w.scale, taps = r * r, blocks = ceil_div(w.channels, kBlock), in_plane = w.height * w.width * kBlock,
             in_blocks = ceil_div(w.channels * taps, kBlock);
  parallel_ranges(pool, w.batch * blocks * w.height, static_cast<double>(w.width * taps) * 4, [&](i64 begin, i64 end) {
    alignas(64) std::array<float, kMaxShuffle * kMaxShuffle * kBlock> from, to;
    for (auto i = begin; i < end; ++i) {
      const auto y = i % w.height, block = i / w.height % blocks, image = i / w.height / blocks;
      // Sixteen channels of the output are as many blocks of the input as there are taps, or less where they end.
      const auto count = std::min(kBlock, w.channels - block * kBlock), read = ceil_div(count * taps, kBlock);
      const auto* x = in + (image * in_blocks + block * taps) * in_plane + y * w.width * kBlock;
      auto* line = out + ((image * blocks + block) * w.height + y) * taps * w.width * kBlock;
      to.fill(0.0f);
      for (i64 column = 0; column < w.width; ++column, x += kBlock) {
        for (i64 b = 0; b < read; ++b) std::copy_n(x + b * in_plane, kBlock, from.data() + b * kBlock);
        table.transpose(from.data(), taps, to.data(), kBlock, count, taps);
        for (i64 t = 0; t < taps; ++t)
          std::copy_n(to.data() + t * kBlock, kBlock, line + ((t / r * w.width + column) * r + t % r) * kBlock);
      }
    }
  });
}

}  // namespace ovir::fast
