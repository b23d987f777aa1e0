#include "fast/kernels/convolution/gathered.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kMost = 1 << 20;  // floats

void copy_block(const ConvolutionShape& s, const Phase& p, const Gathered& g, const float* in, float* to) {
  std::fill_n(to, g.block, 0.0f);
  for (i64 j = 0; j < s.kernel_width; ++j)
    for (i64 y = 0; y < std::min(s.height, g.rows * s.stride_y - p.top); ++y) {
      float* const row = to + g.offset(s, y + p.top, j) * kBlock;
      for (i64 x = 0; x < s.out_width; ++x) {
        const auto from = x * s.stride_x + p.dx[j];
        if (from >= 0 && from < s.width) std::copy_n(in + (y * s.width + from) * kBlock, kBlock, row + x * kBlock);
      }
    }
}

}  // namespace

Phase Gathered::phase(const ConvolutionShape& s, const Phase& p) const {
  Phase one;
  one.out_rows = 1;
  one.out_columns = s.out_plane();
  one.taps = p.taps;
  for (i64 i = 0; i < p.taps; ++i) {
    one.dy[i] = 0;
    one.dx[i] = offset(s, p.dy[i] + p.top, i % s.kernel_width);
  }
  return one;
}

void Gathered::copy(const ConvolutionShape& s, const Phase& p, const float* in, float* to, ThreadPool& pool) const {
  parallel_ranges(pool, s.batch * blocks_of(s.channels), static_cast<double>(block) / 8, [&](i64 begin, i64 end) {
    for (auto b = begin; b < end; ++b) copy_block(s, p, *this, in + b * s.plane() * kBlock, to + b * block);
  });
}

bool gathers(const ConvolutionShape& s, const Phase& p) {
  if (p.taps <= 1 || s.out_plane() == 0) return false;
  return ceil_div(s.out_plane(), isa().pixels) * 5 <= p.tiles() * 4 &&
         Gathered(s, p).block * s.batch * blocks_of(s.channels) <= kMost;
}

}  // namespace ovir::fast
