#include "fast/kernels/image/deformable_region_pooling.hpp"

#include <array>

#include "fast/kernels/chunks.hpp"

namespace ovir::fast {
namespace {

/// The pixels along an axis between which the points of a bin lie, each but once, with the sums of their weights: the
/// points are a grid, so that a bin's sum is one over its rows of sums over its columns.
class Taps {
 public:
  Taps(float start, float bin, i64 points, i64 length) {
    for (i64 i = 0; i < points; ++i) {
      const auto point = deformable_psroi_pooling_point(i, points, start, bin);
      if (!deformable_psroi_pooling_counts(point, length)) continue;
      ++points_;
      const auto at = std::clamp(point, 0.0F, static_cast<float>(length - 1));
      const auto low = static_cast<i64>(at);
      const auto part = at - static_cast<float>(low);
      add(low, 1 - part);
      if (part > 0) add(std::min(low + 1, length - 1), part);
    }
  }
  /// Of those inside of the plane.
  i64 points() const { return points_; }
  i64 size() const { return size_; }
  i64 at(i64 i) const { return at_[i]; }
  float weight(i64 i) const { return weight_[i]; }

 private:
  /// Points come in order: a pixel is one of the last two, or a new one.
  void add(i64 at, float weight) {
    for (auto i = size_ - 1; i >= std::max<i64>(size_ - 2, 0); --i)
      if (at_[i] == at) {
        weight_[i] += weight;
        return;
      }
    at_[size_] = at;
    weight_[size_++] = weight;
  }
  i64 points_ = 0, size_ = 0;
  std::array<i64, 2 * kMostDeformablePoints> at_;
  std::array<float, 2 * kMostDeformablePoints> weight_;
};

float sum_of(const float* map, i64 width, const Taps& rows, const Taps& columns) {
  float sum = 0;
  for (i64 v = 0; v < rows.size(); ++v) {
    const auto* line = map + rows.at(v) * width;
    float along = 0;
    for (i64 u = 0; u < columns.size(); ++u) along += columns.weight(u) * line[columns.at(u)];
    sum += rows.weight(v) * along;
  }
  return sum;
}

}  // namespace

void pool_deformable(const DeformableRegions& what, const float* maps, float* out, ThreadPool& pool) {
  const auto& a = what.attrs;
  const auto bins = a.group_size, channels = a.output_dim, plane = what.height * what.width, part = a.part_size;
  const DeformableClasses classes(a, what.offset_channels);
  const auto cost = static_cast<double>(bins * bins * (classes.sharing + 4) * 10);
  parallel_ranges(pool, what.regions * classes.count, cost, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto region = i / classes.count, first = classes.first(i % classes.count),
                 last = classes.first(i % classes.count + 1);
      if (first == last) continue;
      auto* to = out + (region * channels + first) * bins * bins;
      const auto image = what.image[region];
      if (image < 0) {
        std::fill_n(to, (last - first) * bins * bins, 0.0F);
        continue;
      }
      const auto* map = maps + (image * channels + first) * bins * bins * plane;
      const auto* roi = what.rois + region * 5;
      const auto across = deformable_psroi_pooling_side(a, roi[1], roi[3]),
                 down = deformable_psroi_pooling_side(a, roi[2], roi[4]);
      const auto bin_width = across.length / static_cast<float>(bins),
                 bin_height = down.length / static_cast<float>(bins);
      for (i64 bin = 0; bin < bins * bins; ++bin) {
        const auto h = bin / bins, w = bin % bins;
        auto x = across.first + static_cast<float>(w) * bin_width, y = down.first + static_cast<float>(h) * bin_height;
        if (what.offset_channels > 0) {
          const auto* shift = what.offsets + i * 2 * part * part + h * part / bins * part + w * part / bins;
          x += shift[0] * a.trans_std * across.length;
          y += shift[part * part] * a.trans_std * down.length;
        }
        const Taps columns(x, bin_width, a.spatial_bins_x, what.width),
            rows(y, bin_height, a.spatial_bins_y, what.height);
        const auto points = rows.points() * columns.points();
        for (i64 c = 0; c < last - first; ++c) {
          const auto own = c * bins * bins + bin;
          to[own] = points > 0 ? sum_of(map + own * plane, what.width, rows, columns) / static_cast<float>(points) : 0;
        }
      }
    }
  });
}

}  // namespace ovir::fast
