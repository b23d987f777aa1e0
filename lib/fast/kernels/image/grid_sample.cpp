#include "fast/kernels/image/grid_sample.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "fast/isa/lines.hpp"
#include "fast/isa/table.hpp"
#include "fast/kernels/chunks.hpp"
#include "fast/kernels/image/turned.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kPoints = 64, kChannels = 64;  // for which taps are computed once

SampledAxis axis_of(i64 length, const GridSampleAttrs& attrs) {
  const auto n = static_cast<double>(length);
  const auto beyond = attrs.padding_mode == GridSamplePadding::zeros    ? BeyondImage::zeros
                      : attrs.padding_mode == GridSamplePadding::border ? BeyondImage::border
                      : attrs.align_corners                             ? BeyondImage::centers
                                                                        : BeyondImage::edges;
  return {.scale = attrs.align_corners ? (n - 1) / 2 : n / 2,
          .shift = attrs.align_corners ? 0 : -0.5,
          .length = static_cast<std::int32_t>(length),
          .beyond = beyond};
}

/// By tap, the pixel and its weight for each of some points; what lies outside of the image is masked.
template <i64 taps>
struct Samples {
  std::array<std::array<std::int32_t, kPoints>, taps> at;
  std::array<std::array<float, kPoints>, taps> weight;
  std::array<std::array<std::uint32_t, kPoints>, taps> mask;

  Samples(const GridSampling& what, const float* grid, i64 points) {
    constexpr int along = taps == 1 ? 1 : taps == 4 ? 2 : 4;
    line_isa().grid_pixels(axis_of(what.width, what.attrs), axis_of(what.height, what.attrs), along, grid, points,
                           pixels());
  }

  SampledPixels pixels() { return {at[0].data(), weight[0].data(), mask[0].data(), kPoints}; }
};

bool by_pixels(const GridSampling& what) { return turning_pays(what.channels, what.points, what.height * what.width); }

/// Floats of a turned image, and a pixel of zeros behind it.
i64 image_size(const GridSampling& what) { return (what.height * what.width + 1) * what.channels; }

void turn(const GridSampling& what, const float* x, float* to, ThreadPool& pool) {
  const auto plane = what.height * what.width, size = image_size(what);
  turn_images(x, what.batch, what.channels, plane, what.channels, size, to, pool);
  for (i64 n = 0; n < what.batch; ++n) std::fill_n(to + n * size + plane * what.channels, what.channels, 0.0f);
}

/// `count` channels of a turned image, by point.
template <i64 taps>
void sample_pixels(const LineTable& table, const Samples<taps>& s, const float* image, i64 channels, i64 plane,
                   i64 count, i64 points, float* to) {
  for (i64 p = 0; p < points; ++p, to += count) {
    std::array<const float*, taps> pixels;
    std::array<float, taps> weights;
    for (i64 t = 0; t < taps; ++t) {
      pixels[t] = image + (s.mask[t][p] ? s.at[t][p] : plane) * channels;
      weights[t] = s.weight[t][p];
    }
    if constexpr (taps == 1) {
      std::copy_n(pixels[0], count, to);
    } else {
      std::fill_n(to, count, 0.0F);
      for (i64 t = 0; t < taps; t += 4) table.sample(&pixels[t], &weights[t], false, to, count);
    }
  }
}

template <i64 taps>
void sample_all(const GridSampling& what, const float* x, const float* grid, float* out, float* images,
                ThreadPool& pool) {
  const auto blocks = ceil_div(what.points, kPoints), parts = ceil_div(what.channels, kChannels);
  const auto plane = what.height * what.width;
  const auto cost =
      static_cast<double>(std::min(what.points, kPoints) * (20 + 8 * taps + std::min(what.channels, kChannels) * taps));
  parallel_ranges(pool, what.batch * blocks * parts, cost, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto n = i / (blocks * parts), first = i / parts % blocks * kPoints, channel = i % parts * kChannels;
      const auto points = std::min(kPoints, what.points - first);
      Samples<taps> samples(what, grid + (n * what.points + first) * 2, points);
      if (images) {
        alignas(64) std::array<float, kPoints * kChannels> some;
        const auto count = std::min(kChannels, what.channels - channel);
        sample_pixels(line_isa(), samples, images + n * image_size(what) + channel, what.channels, plane, count, points,
                      some.data());
        isa().transpose(some.data(), count, out + (n * what.channels + channel) * what.points + first, what.points,
                        points, count);
        continue;
      }
      for (auto c = channel; c < std::min(what.channels, channel + kChannels); ++c)
        line_isa().sum_pixels(samples.pixels(), taps, x + (n * what.channels + c) * plane,
                              out + (n * what.channels + c) * what.points + first, points);
    }
  });
}

}  // namespace

bool takes_grid_sample(const GridSampling& what) {
  constexpr i64 kMost = i64{1} << 30;
  const auto is_length = [](i64 v) { return v > 0 && v < kMost; };
  return is_length(what.height) && is_length(what.width) && is_length(what.height * what.width);
}

i64 grid_sample_scratch_size(const GridSampling& what) { return by_pixels(what) ? what.batch * image_size(what) : 0; }

void grid_sample(const GridSampling& what, const float* x, const float* grid, float* out, float* scratch,
                 ThreadPool& pool) {
  float* images = by_pixels(what) ? scratch : nullptr;
  if (images) turn(what, x, images, pool);
  switch (what.attrs.mode) {
    case GridSampleMode::nearest: return sample_all<1>(what, x, grid, out, images, pool);
    case GridSampleMode::bilinear: return sample_all<4>(what, x, grid, out, images, pool);
    default: return sample_all<16>(what, x, grid, out, images, pool);
  }
}

}  // namespace ovir::fast
