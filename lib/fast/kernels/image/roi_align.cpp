#include "fast/kernels/image/roi_align.hpp"

#include <algorithm>
#include <array>

#include "fast/isa/table.hpp"
#include "fast/kernels/chunks.hpp"
#include "fast/kernels/image/turned.hpp"
#include "op/kit/bilinear_sample.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kChannels = 32, kSamples = 128;  // for which samples are found once, and how many of them at a time

/// Samples of a region in the order of its bins.
struct Samples {
  std::array<BilinearSample<float>, kSamples> list;
  std::array<i64, kSamples> bin;
  i64 count = 0;

  void add(const BilinearSample<float>& sample, i64 in) {
    list[count] = sample;
    bin[count++] = in;
  }
};

/// Bins of so many channels at most are summed aside, [bin][channels], from maps that were turned.
constexpr i64 kMostBins = 256;

bool by_pixels(const RoiAligning& what) {
  const auto bins = what.bin_rows * what.bin_columns;
  return bins <= kMostBins && turning_pays(what.channels, what.regions * bins, what.images * what.height * what.width);
}

}  // namespace

i64 roi_align_scratch_size(const RoiAligning& what) {
  return by_pixels(what) ? what.images * what.channels * what.height * what.width : 0;
}

void roi_align(const RoiAligning& what, const Region* regions, const float* maps, float* out, float* scratch,
               ThreadPool& pool) {
  const auto parts = ceil_div(what.channels, kChannels), plane = what.height * what.width,
             bins = what.bin_rows * what.bin_columns;
  i64 samples_in_all = 0;
  for (i64 r = 0; r < what.regions; ++r) samples_in_all += regions[r].columns * regions[r].rows;
  const auto mean = static_cast<double>(samples_in_all) / static_cast<double>(what.regions);
  const auto cost =
      static_cast<double>(bins) * (mean * static_cast<double>(std::min(what.channels, kChannels) * 3 + 20) + 1);
  const bool turned = by_pixels(what);
  if (turned) turn_images(maps, what.images, what.channels, plane, what.channels * plane, scratch, pool);
  parallel_ranges(pool, what.regions * parts, cost, [&](i64 begin, i64 end) {
    Samples samples;
    alignas(64) std::array<float, kMostBins * kChannels> aside;
    for (auto i = begin; i < end; ++i) {
      const auto& region = regions[i / parts];
      const auto first = i % parts * kChannels, channels = std::min(kChannels, what.channels - first);
      const auto* map = maps + (region.image * what.channels + first) * plane;
      auto* to = out + (i / parts * what.channels + first) * bins;
      auto* const sums = turned ? aside.data() : to;
      std::fill_n(sums, channels * bins, 0.0F);
      const auto* pixels = scratch + region.image * what.channels * plane + first;
      const auto in_bin = static_cast<float>(region.columns * region.rows);
      const auto add_pixels = [&] {
        for (i64 s = 0; s < samples.count; ++s) {
          const auto& sample = samples.list[s];
          auto* pooled = sums + samples.bin[s] * channels;
          std::array<const float*, 4> at;
          for (std::size_t k = 0; k < 4; ++k) at[k] = pixels + sample.at[k] * what.channels;
          for (i64 c = 0; c < channels; ++c) {
            const auto value = sample.inside ? sample.weight[0] * at[0][c] + sample.weight[1] * at[1][c] +
                                                   sample.weight[2] * at[2][c] + sample.weight[3] * at[3][c]
                                             : 0;
            pooled[c] = what.largest ? std::max(pooled[c], value) : pooled[c] + value / in_bin;
          }
        }
        samples.count = 0;
      };
      const auto flush = [&] {
        if (turned) return add_pixels();
        for (i64 c = 0; c < channels; ++c)
          for (i64 s = 0; s < samples.count; ++s) {
            auto& pooled = to[c * bins + samples.bin[s]];
            const auto value = samples.list[s].of(map + c * plane);
            pooled = what.largest ? std::max(pooled, value) : pooled + value / in_bin;
          }
        samples.count = 0;
      };
      for (i64 bin = 0; bin < bins; ++bin) {
        const auto row = static_cast<float>(bin / what.bin_columns),
                   column = static_cast<float>(bin % what.bin_columns);
        for (i64 v = 0; v < region.rows; ++v)
          for (i64 u = 0; u < region.columns; ++u) {
            const auto y = region.y + row * region.bin_height +
                           region.bin_height / static_cast<float>(region.rows) * (static_cast<float>(v) + 0.5F),
                       x = region.x + column * region.bin_width +
                           region.bin_width / static_cast<float>(region.columns) * (static_cast<float>(u) + 0.5F);
            samples.add(BilinearSample<float>(x, y, what.width, what.height), bin);
            if (samples.count == kSamples) flush();
          }
      }
      flush();
      if (turned) isa().transpose(sums, channels, to, bins, bins, channels);
    }
  });
}

}  // namespace ovir::fast
