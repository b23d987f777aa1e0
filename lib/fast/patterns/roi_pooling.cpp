// ROIPooling of f32.
#include "fast/kernels/image/region_pooling.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/region_images.hpp"

namespace ovir::fast::patterns::roi_pooling {
namespace {

/// `Along`: PixelSpan of the maximum, AxisPoint of bilinear interpolation.
template <class Along>
class RoiPooling final : public Kernel {
 public:
  RoiPooling(const Version& version, const RoiPoolingAttrs& attrs) : version_(&version), attrs_(attrs) {}

  std::string name() const override { return kLargest ? "roi_pooling.max" : "roi_pooling.bilinear"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    auto state = std::make_unique<State>();
    const auto what = pooling(sizes.in[0], sizes.in[1]);
    state->images.resize(what.regions);
    state->rows.resize(what.regions * what.bin_rows);
    state->columns.resize(what.regions * what.bin_columns);
    state->turned = state->reserve(kLargest ? pool_largest_scratch_size(what) : pool_points_scratch_size(what));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    const auto &maps = in[0], &rois = in[1];
    const auto what = pooling(maps, rois);
    find_images(*version_, rois, NoImage::ends, what.images, state.images);
    for (i64 r = 0; r < what.regions; ++r) {
      const auto* roi = rois.as<const float>() + 5 * r;
      for (i64 i = 0; i < what.bin_rows; ++i)
        state.rows[r * what.bin_rows + i] = along(i, what.bin_rows, roi[2], roi[4], what.height);
      for (i64 i = 0; i < what.bin_columns; ++i)
        state.columns[r * what.bin_columns + i] = along(i, what.bin_columns, roi[1], roi[3], what.width);
    }
    const RegionSides<Along> sides{state.images.data(), state.rows.data(), state.columns.data()};
    const auto pool = [&](auto by) {
      by(what, sides, maps.as<const float>(), out[0].as<float>(), state.floats(state.turned), runtime.pool());
    };
    if constexpr (kLargest) pool(pool_largest);
    else pool(pool_points);
  }

 private:
  static constexpr bool kLargest = std::is_same_v<Along, PixelSpan>;

  struct State final : KernelState {
    std::vector<i64> images;
    std::vector<Along> rows, columns;
    Scratch turned;
  };

  RegionPooling pooling(const View& maps, const View& rois) const {
    return {.images = maps.dim(0),
            .regions = rois.dim(0),
            .channels = maps.dim(1),
            .height = maps.dim(2),
            .width = maps.dim(3),
            .bin_rows = attrs_.height(),
            .bin_columns = attrs_.width()};
  }

  Along along(i64 i, i64 bins, float first, float last, i64 length) const {
    if constexpr (kLargest) {
      return roi_pooling_bin<float>(i, bins, roi_pooling_pixel(first, attrs_.spatial_scale),
                                    roi_pooling_pixel(last, attrs_.spatial_scale), length);
    } else {
      const auto at = roi_pooling_point(i, bins, first, last, length);
      return {at, length, 0 <= at && at <= static_cast<float>(length - 1)};
    }
  }

  const Version* version_;
  RoiPoolingAttrs attrs_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto maps = graph.input(root, 0), rois = graph.input(root, 1);
  if (!is_f32(graph, maps) || !is_f32(graph, rois)) return std::nullopt;
  const auto& version = *graph.node(root).version;
  const auto& attrs = graph.attrs<RoiPoolingAttrs>(root);
  std::unique_ptr<Kernel> kernel;
  if (attrs.method == RoiPoolingMethod::max) kernel = std::make_unique<RoiPooling<PixelSpan>>(version, attrs);
  else kernel = std::make_unique<RoiPooling<AxisPoint>>(version, attrs);
  return Match{{root}, {maps, rois}, std::move(kernel)};
}

constexpr std::string_view kRoots[] = {"ROIPooling"};

}  // namespace

extern constinit const Pattern pattern{.name = "roi_pooling", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::roi_pooling
