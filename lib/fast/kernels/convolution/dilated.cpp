#include "fast/kernels/convolution/dilated.hpp"

#include "fast/kernels/convolution/winograd.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kSide = 6;  // of a plane, from which on Winograd pays

/// The planes, as images without dilation. Those of fewer pixels than others end with zeros.
ConvolutionShape split(const ConvolutionShape& s) {
  auto p = s;
  const auto d = s.dilation_x;
  p.batch = s.batch * d * d;
  p.height = p.out_height = ceil_div(s.height, d);
  p.width = p.out_width = ceil_div(s.width, d);
  p.dilation_y = p.dilation_x = p.pad_top = p.pad_left = 1;
  return p;
}

/// The tile with the fewer multiplications.
int tile_of(const ConvolutionShape& p) {
  const auto products = [&](i64 m) { return (m + 2) * (m + 2) * ceil_div(p.height, m) * ceil_div(p.width, m); };
  return products(4) <= products(2) ? 4 : 2;
}

i64 floats(const ConvolutionShape& p, i64 channels) { return p.batch * blocks_of(channels) * p.plane() * kBlock; }

/// copy(place among all pixels, place in a plane, pixels) for each row of each plane.
template <class Copy>
void for_rows(const ConvolutionShape& s, const ConvolutionShape& p, i64 channels, ThreadPool& pool, Copy copy) {
  const auto d = s.dilation_x, blocks = blocks_of(channels);
  parallel_ranges(pool, p.batch * blocks * p.height, static_cast<double>(p.width) * 3, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto row = i % p.height, block = i / p.height % blocks, plane = i / p.height / blocks;
      const auto image = plane / (d * d), y = row * d + plane / d % d, x = plane % d;
      const auto count = y < s.height && x < s.width ? ceil_div(s.width - x, d) : 0;
      copy((((image * blocks + block) * s.height + y) * s.width + x) * kBlock, i * p.width * kBlock, count);
    }
  });
}

void gather(const ConvolutionShape& s, const ConvolutionShape& p, i64 channels, const float* from, float* to,
            ThreadPool& pool) {
  for_rows(s, p, channels, pool, [&](i64 whole, i64 part, i64 count) {
    for (i64 i = 0; i < count; ++i)
      std::copy_n(from + whole + i * s.dilation_x * kBlock, kBlock, to + part + i * kBlock);
    std::fill_n(to + part + count * kBlock, (p.width - count) * kBlock, 0.0f);
  });
}

/// compute(shape, in, out, scratch), which are of the planes.
template <class Compute>
void by_planes(const ConvolutionShape& s, const float* in, float* out, float* scratch, ThreadPool& pool,
               Compute compute) {
  if (s.out_plane() == 0) return;
  const auto p = split(s);
  auto* const x = scratch;
  auto* const y = x + floats(p, s.channels);
  gather(s, p, s.channels, in, x, pool);
  compute(p, x, y, y + floats(p, s.outputs));
  for_rows(s, p, s.outputs, pool, [&](i64 whole, i64 part, i64 count) {
    for (i64 i = 0; i < count; ++i) std::copy_n(y + part + i * kBlock, kBlock, out + whole + i * s.dilation_x * kBlock);
  });
}

i64 planes_floats(const ConvolutionShape& p) { return floats(p, p.channels) + floats(p, p.outputs); }

}  // namespace

bool dilated_pays(const ConvolutionShape& s) {
  const auto d = s.dilation_x;
  if (d < 2 || s.dilation_y != d || s.pad_top != d || s.pad_left != d || s.height != s.out_height ||
      s.width != s.out_width)
    return false;
  const auto p = split(s);
  return winograd_tile(p) > 0 && std::min(p.height, p.width) >= kSide;
}

i64 dilated_filters_size(const ConvolutionShape& s) {
  const auto p = split(s);
  return winograd_filters_size(p, tile_of(p));
}

void dilated_pack(const ConvolutionShape& s, const Weights& weights, float* to, ThreadPool& pool) {
  const auto p = split(s);
  winograd_pack(p, tile_of(p), weights, to, pool);
}

i64 dilated_scratch_size(const ConvolutionShape& s, int threads) {
  const auto p = split(s);
  return planes_floats(p) + winograd_scratch_size(p, tile_of(p), threads);
}

void dilated_convolution(const ConvolutionShape& s, const float* filters, const float* in, float* out,
                         const Epilogue& epilogue, float* scratch, ThreadPool& pool) {
  by_planes(s, in, out, scratch, pool, [&](const ConvolutionShape& p, const float* x, float* y, float* room) {
    winograd_convolution(p, tile_of(p), filters, x, y, epilogue, room, pool);
  });
}

bool dilated_packs_by_panels(const ConvolutionShape& s) {
  const auto p = split(s);
  return winograd_packs_by_panels(p, tile_of(p));
}

i64 dilated_once_scratch_size(const ConvolutionShape& s, int threads) {
  const auto p = split(s);
  return planes_floats(p) + winograd_once_scratch_size(p, tile_of(p), threads);
}

void dilated_convolution_once(const ConvolutionShape& s, const Weights& weights, const float* in, float* out,
                              const Epilogue& epilogue, float* scratch, ThreadPool& pool) {
  by_planes(s, in, out, scratch, pool, [&](const ConvolutionShape& p, const float* x, float* y, float* room) {
    winograd_convolution_once(p, tile_of(p), weights, x, y, epilogue, room, pool);
  });
}

}  // namespace ovir::fast
