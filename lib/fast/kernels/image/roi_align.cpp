#include "fast/kernels/image/roi_align.hpp"

#include <algorithm>
#include <array>

#include "fast/isa/lines.hpp"
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

/// Bins are summed aside, [bin][channels], from maps that were turned: of so many channels at least.
constexpr i64 kAside = 8192, kMostBins = kAside / kChannels;

bool by_pixels(const RoiAligning& what) {
  const auto bins = what.bin_rows * what.bin_columns;
  return bins <= kMostBins && turning_pays(what.channels, what.regions * bins, what.images * what.height * what.width);
}

/// Channels for which samples are found once.
i64 channels_at_once(const RoiAligning& what) {
  if (!by_pixels(what)) return kChannels;
  const auto most = kAside / (what.bin_rows * what.bin_columns);
  return ceil_div(what.channels, ceil_div(what.channels, most));
}

}  // namespace

i64 roi_align_scratch_size(const RoiAligning& what) {
  return by_pixels(what) ? what.images * what.channels * what.height * what.width : 0;
}

void roi_align(const RoiAligning& what, const Region* regions, const float* maps, float* out, float* scratch,
               ThreadPool& pool) {
  const auto each = channels_at_once(what), parts = ceil_div(what.channels, each), plane = what.height * what.width,
             bins = what.bin_rows * what.bin_columns;
  i64 samples_in_all = 0;
  for (i64 r = 0; r < what.regions; ++r) samples_in_all += regions[r].columns * regions[r].rows;
  const auto mean = static_cast<double>(samples_in_all) / static_cast<double>(what.regions);
  const auto cost =
      static_cast<double>(bins) * (mean * static_cast<double>(std::min(what.channels, each) * 3 + 20) + 1);
  const bool turned = by_pixels(what);
  const auto& table = line_isa();
  if (turned) turn_images(maps, what.images, what.channels, plane, what.channels, what.channels * plane, scratch, pool);
  parallel_ranges(pool, what.regions * parts, cost, [&](i64 begin, i64 end) {
    Samples samples;
    alignas(64) std::array<float, kAside> aside;
    for (auto i = begin; i < end; ++i) {
      const auto& region = regions[i / parts];
      const auto first = i % parts * each, channels = std::min(each, what.channels - first);
      const auto* map = maps + (region.image * what.channels + first) * plane;
      auto* to = out + (i / parts * what.channels + first) * bins;
      auto* const sums = turned ? aside.data() : to;
      std::fill_n(sums, channels * bins, 0.0F);
      const auto* pixels = scratch + region.image * what.channels * plane + first;
      const auto in_bin = static_cast<float>(region.columns * region.rows);
      const auto add_pixels = [&] {
        for (i64 s = 0; s < samples.count; ++s) {
          const auto& sample = samples.list[s];
          if (!sample.inside) continue;
          std::array<const float*, 4> at;
          std::array<float, 4> weights;
          for (std::size_t k = 0; k < 4; ++k) {
            at[k] = pixels + sample.at[k] * what.channels;
            weights[k] = what.largest ? sample.weight[k] : sample.weight[k] / in_bin;
          }
          table.sample(at.data(), weights.data(), what.largest, sums + samples.bin[s] * channels, channels);
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
