// ROIPooling of f32.
#include "fast/kit/region_pooler.hpp"

namespace ovir::fast::patterns::roi_pooling {
namespace {

RegionPooling sizes_of(const RoiPoolingAttrs& attrs, const View& maps, const View& regions) {
  return {.images = maps.dim(0),
          .regions = regions.dim(0),
          .channels = maps.dim(1),
          .height = maps.dim(2),
          .width = maps.dim(3),
          .bin_rows = attrs.height(),
          .bin_columns = attrs.width()};
}

struct Max {
  using Attrs = RoiPoolingAttrs;
  using Along = PixelSpan;
  static constexpr std::string_view kName = "roi_pooling.max";

  static constexpr auto sizes = sizes_of;
  static Along* put(const Attrs& attrs, float first, float last, i64 bins, i64, i64 length, Along* to) {
    const auto low = roi_pooling_pixel(first, attrs.spatial_scale), high = roi_pooling_pixel(last, attrs.spatial_scale);
    for (i64 i = 0; i < bins; ++i) *to++ = roi_pooling_bin<float>(i, bins, low, high, length);
    return to;
  }
  static constexpr auto scratch_size = pool_largest_scratch_size;
  static constexpr auto pool = pool_largest;
};

struct Bilinear {
  using Attrs = RoiPoolingAttrs;
  using Along = AxisPoint;
  static constexpr std::string_view kName = "roi_pooling.bilinear";

  static constexpr auto sizes = sizes_of;
  static Along* put(const Attrs&, float first, float last, i64 bins, i64, i64 length, Along* to) {
    for (i64 i = 0; i < bins; ++i) {
      const auto at = roi_pooling_point(i, bins, first, last, length);
      *to++ = {at, length, 0 <= at && at <= static_cast<float>(length - 1)};
    }
    return to;
  }
  static constexpr auto scratch_size = pool_points_scratch_size;
  static constexpr auto pool = pool_points;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const bool largest = graph.attrs<RoiPoolingAttrs>(root).method == RoiPoolingMethod::max;
  return largest ? match_regions<Max>(graph, root) : match_regions<Bilinear>(graph, root);
}

constexpr std::string_view kRoots[] = {"ROIPooling"};

}  // namespace

extern constinit const Pattern pattern{.name = "roi_pooling", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::roi_pooling
