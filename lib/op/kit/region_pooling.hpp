// Operations that pool regions of feature maps: their attributes, and which pixels and points belong to a bin; the fast
// tier reads them, too.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "op/attributes.hpp"
#include "op/kit/saturate.hpp"

namespace ovir {

/// Pixels [begin, end) along an axis.
struct PixelSpan {
  i64 begin, end;
  bool is_empty() const { return begin >= end; }
};

/// The image that a region is of, from the first of its numbers. NaN is none that maps could have.
template <class T>
i64 region_image(T number) {
  const auto image = static_cast<double>(number);
  return std::isnan(image) ? std::numeric_limits<i64>::min() : saturated<i64>(image);
}

// --- ROIPooling

enum class RoiPoolingMethod : std::uint8_t { max, bilinear };
constexpr auto words(RoiPoolingMethod) {
  return std::to_array<Word<RoiPoolingMethod>>(
      {{"max", RoiPoolingMethod::max}, {"bilinear", RoiPoolingMethod::bilinear}});
}

struct RoiPoolingAttrs {
  std::optional<i64> pooled_h, pooled_w;
  std::vector<i64> output_size, output_roi;  // what newer files say besides: [pooled_h, pooled_w]
  float spatial_scale = 0;
  RoiPoolingMethod method = RoiPoolingMethod::max;

  i64 height() const { return size(pooled_h, 0); }
  i64 width() const { return size(pooled_w, 1); }

 private:
  i64 size(const std::optional<i64>& pooled, std::size_t axis) const {
    return pooled.value_or(0) > 0 || output_roi.size() != 2 ? pooled.value_or(0) : output_roi[axis];
  }
};

/// The pixel at an end of a region.
template <class T>
i64 roi_pooling_pixel(T end, float scale) {
  const auto place = std::round(end * static_cast<T>(scale));
  return std::isnan(place) ? i64{0} : static_cast<i64>(std::clamp<T>(place, T(-1e9), T(1e9)));
}

/// The pixels of bin i of a region from pixel `first` to `last`.
template <class T>
PixelSpan roi_pooling_bin(i64 i, i64 bins, i64 first, i64 last, i64 length) {
  const T size = static_cast<T>(std::max<i64>(last - first + 1, 1)) /
                 static_cast<T>(bins);  // malformed regions are made one pixel
  const auto border = [&](T v) { return std::clamp<i64>(static_cast<i64>(v) + first, 0, length); };
  return {border(std::floor(static_cast<T>(i) * size)), border(std::ceil(static_cast<T>(i + 1) * size))};
}

/// A point's coordinate from normalized ends of a region: the ends themselves, and evenly between them.
template <class T>
T roi_pooling_point(i64 i, i64 count, T first, T last, i64 length) {
  const auto n = static_cast<T>(length - 1);
  if (count == 1) return (first + last) * n / 2;
  return i == count - 1 ? n * last : static_cast<T>(i) * ((last - first) * n / static_cast<T>(count - 1)) + first * n;
}

// --- PSROIPooling

enum class PsroiPoolingMode : std::uint8_t { average, bilinear };
constexpr auto words(PsroiPoolingMode) {
  return std::to_array<Word<PsroiPoolingMode>>(
      {{"average", PsroiPoolingMode::average}, {"bilinear", PsroiPoolingMode::bilinear}});
}

struct PsroiPoolingAttrs {
  i64 output_dim = 0, group_size = 1, spatial_bins_x = 1, spatial_bins_y = 1;
  float spatial_scale = 0;
  PsroiPoolingMode mode = PsroiPoolingMode::average;
};

/// A region along an axis.
struct RegionSide {
  float first, length;
};
/// From the ends that "rois" has. Averages are taken of whole pixels; bilinear regions are normalized to the image.
template <class T>
RegionSide psroi_pooling_side(const PsroiPoolingAttrs& a, T first, T last) {
  const auto place = [&](T v, float more) {
    return a.mode == PsroiPoolingMode::average ? (std::round(static_cast<float>(v)) + more) * a.spatial_scale
                                               : static_cast<float>(v) * a.spatial_scale;
  };
  const float begin = place(first, 0);
  return {begin, place(last, 1) - begin};
}

/// The pixels that bin i of a region touches, of which the average is taken.
inline PixelSpan psroi_pooling_bin(i64 i, i64 bins, const RegionSide& side, i64 length) {
  if (length == 0) return {0, 0};
  const float bin = side.length / static_cast<float>(bins);
  // A region of infinite size makes NaN here, which the comparison takes for 0; clamp would let it through.
  const auto whole = [](float v, i64 max) {
    return v > 0 ? static_cast<i64>(std::min(v, static_cast<float>(max))) : i64{0};
  };
  return {whole(std::floor(side.first + static_cast<float>(i) * bin), length - 1),
          whole(std::ceil(side.first + static_cast<float>(i + 1) * bin), length)};
}

/// A point of bilinear mode. Each of `parts` of a region, of which this is `part`, is a grid of as many points as there
/// are bins, corner to corner; a bin averages one of each.
inline float psroi_pooling_point(i64 i, i64 bins, i64 part, i64 parts, const RegionSide& side, i64 length) {
  const float size = side.length / static_cast<float>(parts), start = side.first + static_cast<float>(part) * size,
              n = static_cast<float>(length - 1);
  return bins > 1 ? static_cast<float>(i) * (size * n / static_cast<float>(bins - 1)) + start * n
                  : (start + start + size) * n / 2;
}

// --- DeformablePSROIPooling

struct DeformablePsroiPoolingAttrs {
  i64 output_dim = 0, group_size = 1, spatial_bins_x = 1, spatial_bins_y = 1, part_size = 1;
  float spatial_scale = 0, trans_std = 1;
  std::string mode = "bilinear_deformable";
};

/// From the ends that "rois" has, whole pixels.
template <class T>
RegionSide deformable_psroi_pooling_side(const DeformablePsroiPoolingAttrs& a, T first, T last) {
  const auto place = [&](T v, float more) {
    return (static_cast<float>(std::round(v)) + more) * a.spatial_scale - 0.5F;
  };
  const float begin = place(first, 0);
  return {begin, std::max(place(last, 1) - begin, 0.1F)};
}

/// Point i of so many of a bin that begins at `start`. Points more than half a pixel outside of the plane do not count;
/// others are moved into it.
inline float deformable_psroi_pooling_point(i64 i, i64 points, float start, float bin) {
  return start + static_cast<float>(i) * (bin / static_cast<float>(points));
}
inline bool deformable_psroi_pooling_counts(float point, i64 length) {
  return point >= -0.5F && point <= static_cast<float>(length) - 0.5F;
}

/// Offsets come in pairs, x before y, for classes of output channels that share them.
struct DeformableClasses {
  i64 count, sharing, channels;
  DeformableClasses(const DeformablePsroiPoolingAttrs& a, i64 offset_channels)
      : count(std::max<i64>(1, offset_channels / 2)),
        sharing(std::max<i64>(1, a.output_dim / count)),
        channels(a.output_dim) {}
  i64 of(i64 channel) const { return std::min(channel / sharing, count - 1); }
  /// The first channel of a class: the last class has what is left, and of more classes than channels some have none.
  i64 first(i64 i) const { return i < count ? std::min(i * sharing, channels) : channels; }
};

}  // namespace ovir
