#include "fast/kernels/image/region_pooling.hpp"

#include <array>
#include <limits>

#include "fast/isa/lines.hpp"
#include "fast/isa/table.hpp"
#include "fast/kernels/chunks.hpp"
#include "fast/kernels/image/turned.hpp"
#include "fast/kernels/types.hpp"

namespace ovir::fast {
namespace {

/// Of maps that were turned bins are computed aside, [bin][channels], and turned back, so many floats at a time.
constexpr i64 kAside = 8192, kChannels = 128;
static_assert(kChannels % kBlock == 0);

bool by_pixels(const RegionPooling& what, i64 read_by_region) {
  return turning_pays(what.channels, what.regions * read_by_region, what.images * what.height * what.width);
}
/// Regions are taken to be an eighth of the plane.
bool largest_by_pixels(const RegionPooling& what) {
  return by_pixels(what, what.bins() + what.height * what.width / 8);
}
bool points_by_pixels(const RegionPooling& what) { return by_pixels(what, what.bins()); }

/// Turned maps: pixels whole blocks apart.
i64 turned_pixel(const RegionPooling& what) { return round_up(what.channels * what.points(), kBlock); }
i64 turned_size(const RegionPooling& what) { return what.images * what.height * what.width * turned_pixel(what); }

/// How channels of a region are shared out.
struct ChannelParts {
  i64 each, count;
  ChannelParts(i64 channels, i64 most)
      : each(std::min(round_up(ceil_div(channels, ceil_div(channels, most)), kBlock), most)),
        count(ceil_div(channels, each)) {}
};

/// work(region, first channel, channels) for all of them; `cost`: of a channel of a region.
template <class Work>
void by_region(const RegionPooling& what, i64 most, double cost, ThreadPool& pool, const Work& work) {
  const ChannelParts parts(what.channels, most);
  parallel_ranges(pool, what.regions * parts.count, cost * static_cast<double>(parts.each), [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto first = i % parts.count * parts.each;
      work(i / parts.count, first, std::min(parts.each, what.channels - first));
    }
  });
}

/// bin(index, sums) for all bins of a region, each of so many channels, which are then turned.
template <class Bin>
void by_bins(const RegionPooling& what, i64 channels, float* to, const Bin& bin) {
  alignas(64) std::array<float, kAside> aside;
  const auto apart = round_up(channels, kBlock), most = kAside / apart;
  for (i64 first = 0; first < what.bins(); first += most) {
    const auto count = std::min(most, what.bins() - first);
    for (i64 b = 0; b < count; ++b) bin(first + b, aside.data() + b * apart);
    isa().transpose(aside.data(), apart, to + first, what.bins(), count, channels);
  }
}

/// The largest of pixels, each of whole blocks of channels.
class LargestPixel {
 public:
  LargestPixel(const float* pixels, i64 blocks, float* to) : to_(to) {
    row_.in = pixels;
    row_.taps = taps_.data();
    row_.step = kBlock;
    row_.pixels = blocks;
    row_.maximum = true;
    row_.size = 1;
  }
  void add(i64 offset) {
    if (row_.tap_count == kTaps) take();
    taps_[row_.tap_count++] = offset;
  }
  /// What was added since the last time, a pixel at least.
  void take() {
    // Of nothing but NaN and -inf the largest is the lowest number, as it is for the reference kernel.
    static constexpr auto kLowest = std::numeric_limits<float>::lowest();
    row_.out = begun_ ? more_.data() : to_;
    isa().pool(row_);
    isa().binary(Binary::maximum, to_, 1, begun_ ? more_.data() : &kLowest, begun_ ? 1 : 0, to_, row_.pixels * kBlock);
    begun_ = true;
    row_.tap_count = 0;
  }

 private:
  static constexpr i64 kTaps = 64;
  PoolRow row_{};
  float* to_;
  bool begun_ = false;
  std::array<i64, kTaps> taps_;
  alignas(64) std::array<float, kChannels> more_;
};

float largest_of(const float* map, i64 width, const PixelSpan& rows, const PixelSpan& columns) {
  if (rows.is_empty() || columns.is_empty()) return 0;
  auto largest = std::numeric_limits<float>::lowest();
  for (auto y = rows.begin; y < rows.end; ++y)
    for (auto x = columns.begin; x < columns.end; ++x) largest = std::max(largest, map[y * width + x]);
  return largest;
}

float point_of(const float* map, i64 width, const AxisPoint& row, const AxisPoint& column) {
  if (!row.inside || !column.inside) return 0;
  const auto along = [&](i64 y) {
    const auto *line = map + y * width, *left = line + column.low;
    return *left + (line[column.high] - *left) * column.part;
  };
  const auto top = along(row.low);
  return top + (along(row.high) - top) * row.part;
}

}  // namespace

i64 pool_largest_scratch_size(const RegionPooling& what) { return largest_by_pixels(what) ? turned_size(what) : 0; }
i64 pool_points_scratch_size(const RegionPooling& what) { return points_by_pixels(what) ? turned_size(what) : 0; }

void pool_largest(const RegionPooling& what, const RegionSides<PixelSpan>& sides, const float* maps, float* out,
                  float* scratch, ThreadPool& pool) {
  const auto bins = what.bins(), plane = what.height * what.width, pixel = turned_pixel(what);
  const bool turned = largest_by_pixels(what);
  if (turned) turn_images(maps, what.images, what.channels, plane, pixel, plane * pixel, scratch, pool);
  const auto cost = static_cast<double>(2 * bins + plane / 8) / (turned ? 8 : 1);
  by_region(what, kChannels, cost, pool, [&](i64 region, i64 first, i64 channels) {
    auto* to = out + (region * what.channels + first) * bins;
    const auto image = sides.image[region];
    if (image < 0) return static_cast<void>(std::fill_n(to, channels * bins, 0.0F));
    const auto *rows = sides.rows + region * what.bin_rows, *columns = sides.columns + region * what.bin_columns;
    if (!turned) {
      for (i64 c = 0; c < channels; ++c)
        for (i64 b = 0; b < bins; ++b)
          to[c * bins + b] = largest_of(maps + (image * what.channels + first + c) * plane, what.width,
                                        rows[b / what.bin_columns], columns[b % what.bin_columns]);
      return;
    }
    const auto* pixels = scratch + image * plane * pixel + first;
    const auto blocks = ceil_div(channels, kBlock);
    by_bins(what, channels, to, [&](i64 b, float* sums) {
      const auto &down = rows[b / what.bin_columns], &across = columns[b % what.bin_columns];
      if (down.is_empty() || across.is_empty()) return static_cast<void>(std::fill_n(sums, blocks * kBlock, 0.0F));
      LargestPixel largest(pixels, blocks, sums);
      for (auto y = down.begin; y < down.end; ++y)
        for (auto x = across.begin; x < across.end; ++x) largest.add((y * what.width + x) * pixel);
      largest.take();
    });
  });
}

void pool_points(const RegionPooling& what, const RegionSides<AxisPoint>& sides, const float* maps, float* out,
                 float* scratch, ThreadPool& pool) {
  const auto bins = what.bins(), plane = what.height * what.width, points = what.points(), pixel = turned_pixel(what);
  const bool turned = points_by_pixels(what);
  if (turned) turn_images(maps, what.images, points * what.channels, plane, pixel, plane * pixel, scratch, pool);
  const auto cost = static_cast<double>(bins * (points * 4 + 1)) / (turned ? 8 : 1);
  const auto& table = line_isa();
  by_region(what, kChannels, cost, pool, [&](i64 region, i64 first, i64 channels) {
    auto* to = out + (region * what.channels + first) * bins;
    const auto image = sides.image[region];
    if (image < 0) return static_cast<void>(std::fill_n(to, channels * bins, 0.0F));
    // each(point, row, column) for the points of a bin.
    const auto points_of = [&](i64 b, const auto& each) {
      const auto *rows = sides.rows + (region * what.bin_rows + b / what.bin_columns) * what.point_rows,
                 *columns = sides.columns + (region * what.bin_columns + b % what.bin_columns) * what.point_columns;
      for (i64 v = 0; v < what.point_rows; ++v)
        for (i64 u = 0; u < what.point_columns; ++u) each(v * what.point_columns + u, rows[v], columns[u]);
    };
    if (!turned) {
      for (i64 c = 0; c < channels; ++c) {
        const auto* map = maps + (image * points * what.channels + first + c) * plane;
        for (i64 b = 0; b < bins; ++b) {
          float sum = 0;
          points_of(b, [&](i64 point, const AxisPoint& row, const AxisPoint& column) {
            sum += point_of(map + point * what.channels * plane, what.width, row, column);
          });
          to[c * bins + b] = sum / static_cast<float>(points);
        }
      }
      return;
    }
    const auto* pixels = scratch + image * plane * pixel + first;
    const auto share = 1 / static_cast<float>(points);
    by_bins(what, channels, to, [&](i64 b, float* sums) {
      std::fill_n(sums, channels, 0.0F);
      points_of(b, [&](i64 point, const AxisPoint& row, const AxisPoint& column) {
        if (!row.inside || !column.inside) return;
        const auto at = [&](i64 y, i64 x) { return pixels + (y * what.width + x) * pixel + point * what.channels; };
        const auto top = (1 - row.part) * share, bottom = row.part * share;
        const std::array around{at(row.low, column.low), at(row.low, column.high), at(row.high, column.low),
                                at(row.high, column.high)};
        const std::array weights{top * (1 - column.part), top * column.part, bottom * (1 - column.part),
                                 bottom * column.part};
        table.sample(around.data(), weights.data(), false, sums, channels);
      });
    });
  });
}

void pool_own_means(const RegionPooling& what, const RegionSides<PixelSpan>& sides, const float* maps, float* out,
                    ThreadPool& pool) {
  // A map is read for several regions while it is in the first-level cache.
  constexpr i64 kRegions = 64, kLongRow = 16;
  const auto own = what.channels * what.bins(), plane = what.height * what.width,
             groups = ceil_div(what.regions, kRegions);
  const auto mean = [&](const float* map, const PixelSpan& rows, const PixelSpan& columns) {
    if (rows.is_empty() || columns.is_empty()) return 0.0F;
    const auto count = columns.end - columns.begin;
    float sum = 0;
    for (auto y = rows.begin; y < rows.end; ++y) {
      const auto* line = map + y * what.width + columns.begin;
      if (count >= kLongRow) {
        sum += isa().sum(line, count);
        continue;
      }
      for (i64 x = 0; x < count; ++x) sum += line[x];
    }
    return sum / static_cast<float>(count * (rows.end - rows.begin));
  };
  const auto cost = static_cast<double>(std::min(what.regions, kRegions) * (5 + plane / what.bins() / 4));
  parallel_ranges(pool, groups * own, cost, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto map = i % own, row = map / what.bin_columns % what.bin_rows, column = map % what.bin_columns;
      const Part regions(what.regions, groups, i / own);
      for (auto r = regions.begin; r < regions.end; ++r) {
        const auto image = sides.image[r];
        out[r * own + map] = image < 0 ? 0
                                       : mean(maps + (image * own + map) * plane, sides.rows[r * what.bin_rows + row],
                                              sides.columns[r * what.bin_columns + column]);
      }
    }
  });
}

}  // namespace ovir::fast
