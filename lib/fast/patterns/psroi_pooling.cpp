// PSROIPooling of f32.
#include "fast/kit/region_pooler.hpp"

namespace ovir::fast::patterns::psroi_pooling {
namespace {

RegionPooling sizes_of(const PsroiPoolingAttrs& attrs, const View& maps, const View& regions) {
  return {.images = maps.dim(0),
          .regions = regions.dim(0),
          .channels = attrs.output_dim,
          .height = maps.dim(2),
          .width = maps.dim(3),
          .bin_rows = attrs.group_size,
          .bin_columns = attrs.group_size};
}

struct Average {
  using Attrs = PsroiPoolingAttrs;
  using Along = PixelSpan;
  static constexpr std::string_view kName = "psroi_pooling.average";

  static constexpr auto sizes = sizes_of;
  static Along* put(const Attrs& attrs, float first, float last, i64 bins, i64, i64 length, Along* to) {
    const auto side = psroi_pooling_side(attrs, first, last);
    for (i64 i = 0; i < bins; ++i) *to++ = psroi_pooling_bin(i, bins, side, length);
    return to;
  }
  static i64 scratch_size(const RegionPooling&) { return 0; }
  static void pool(const RegionPooling& what, const RegionSides<Along>& sides, const float* maps, float* bins, float*,
                   ThreadPool& pool) {
    pool_own_means(what, sides, maps, bins, pool);
  }
};

struct Bilinear {
  using Attrs = PsroiPoolingAttrs;
  using Along = AxisPoint;
  static constexpr std::string_view kName = "psroi_pooling.bilinear";

  static RegionPooling sizes(const Attrs& attrs, const View& maps, const View& regions) {
    auto what = sizes_of(attrs, maps, regions);
    what.point_rows = attrs.spatial_bins_y;
    what.point_columns = attrs.spatial_bins_x;
    return what;
  }
  static Along* put(const Attrs& attrs, float first, float last, i64 bins, i64 points, i64 length, Along* to) {
    const auto side = psroi_pooling_side(attrs, first, last);
    for (i64 i = 0; i < bins; ++i)
      for (i64 p = 0; p < points; ++p) {
        const auto at = psroi_pooling_point(i, bins, p, points, side, length);
        *to++ = {at, length, at >= 0 && at < static_cast<float>(length)};
      }
    return to;
  }
  static constexpr auto scratch_size = pool_points_scratch_size;
  static constexpr auto pool = pool_points;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const bool average = graph.attrs<PsroiPoolingAttrs>(root).mode == PsroiPoolingMode::average;
  return average ? match_regions<Average>(graph, root) : match_regions<Bilinear>(graph, root);
}

constexpr std::string_view kRoots[] = {"PSROIPooling"};

}  // namespace

extern constinit const Pattern pattern{.name = "psroi_pooling", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::psroi_pooling
