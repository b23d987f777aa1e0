#include "fast/kernels/image/grid_sample.hpp"

#include <array>
#include <bit>
#include <cstdint>

#include "fast/kernels/chunks.hpp"
#include "op/kit/grid_sampling.hpp"

namespace ovir::fast {
namespace {

using grid_sampling::denormalize;
using grid_sampling::taps_of;

constexpr i64 kPoints = 64, kChannels = 64;  // for which taps are computed once

/// By tap, the pixel and its weight for each of some points; what lies outside of the image is masked.
template <i64 taps>
struct Samples {
  std::array<std::array<i64, kPoints>, taps> at;
  std::array<std::array<float, kPoints>, taps> weight;
  std::array<std::array<std::uint32_t, kPoints>, taps> mask;

  Samples(const GridSampling& what, const float* grid, i64 points) {
    for (i64 p = 0; p < points; ++p) {
      const auto columns = taps_of(denormalize(static_cast<double>(grid[2 * p]), what.width, what.attrs.align_corners),
                                   what.width, what.attrs);
      const auto rows =
          taps_of(denormalize(static_cast<double>(grid[2 * p + 1]), what.height, what.attrs.align_corners), what.height,
                  what.attrs);
      i64 t = 0;
      for (const auto& row : rows)
        for (const auto& column : columns) {
          const bool is_pixel = row.at >= 0 && column.at >= 0;
          at[t][p] = is_pixel ? row.at * what.width + column.at : 0;
          mask[t][p] = is_pixel ? ~0U : 0U;
          weight[t++][p] = static_cast<float>(row.weight * column.weight);
        }
    }
  }
};

template <i64 taps>
void sample(const Samples<taps>& s, const float* x, i64 points, float* to) {
  const auto pixel = [&](i64 t, i64 p) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x[s.at[t][p]]) & s.mask[t][p]);
  };
  for (i64 p = 0; p < points; ++p) {
    if constexpr (taps == 1) {
      to[p] = pixel(0, p);
    } else {
      float sum = 0;
      for (i64 t = 0; t < taps; ++t) sum += s.weight[t][p] * pixel(t, p);
      to[p] = sum;
    }
  }
}

template <i64 taps>
void sample_all(const GridSampling& what, const float* x, const float* grid, float* out, ThreadPool& pool) {
  const auto blocks = ceil_div(what.points, kPoints), parts = ceil_div(what.channels, kChannels);
  const auto plane = what.height * what.width;
  const auto cost =
      static_cast<double>(std::min(what.points, kPoints) * (20 + 8 * taps + std::min(what.channels, kChannels) * taps));
  parallel_ranges(pool, what.batch * blocks * parts, cost, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto n = i / (blocks * parts), first = i / parts % blocks * kPoints, channel = i % parts * kChannels;
      const auto points = std::min(kPoints, what.points - first);
      const Samples<taps> samples(what, grid + (n * what.points + first) * 2, points);
      for (auto c = channel; c < std::min(what.channels, channel + kChannels); ++c)
        sample(samples, x + (n * what.channels + c) * plane, points,
               out + (n * what.channels + c) * what.points + first);
    }
  });
}

}  // namespace

void grid_sample(const GridSampling& what, const float* x, const float* grid, float* out, ThreadPool& pool) {
  switch (what.attrs.mode) {
    case GridSampleMode::nearest: return sample_all<1>(what, x, grid, out, pool);
    case GridSampleMode::bilinear: return sample_all<4>(what, x, grid, out, pool);
    default: return sample_all<16>(what, x, grid, out, pool);
  }
}

}  // namespace ovir::fast
