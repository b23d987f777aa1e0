// PSROIPooling of f32.
#include "fast/kernels/image/region_pooling.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/region_images.hpp"

namespace ovir::fast::patterns::psroi_pooling {
namespace {

/// `Along`: PixelSpan of averages, AxisPoint of bilinear interpolation.
template <class Along>
class PsroiPooling final : public Kernel {
 public:
  PsroiPooling(const Version& version, const PsroiPoolingAttrs& attrs) : version_(&version), attrs_(attrs) {}

  std::string name() const override { return kAverage ? "psroi_pooling.average" : "psroi_pooling.bilinear"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    auto state = std::make_unique<State>();
    const auto what = pooling(sizes.in[0], sizes.in[1]);
    state->images.resize(what.regions);
    state->rows.resize(what.regions * what.bin_rows * what.point_rows);
    state->columns.resize(what.regions * what.bin_columns * what.point_columns);
    if (!kAverage) state->turned = state->reserve(pool_points_scratch_size(what));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    const auto &maps = in[0], &rois = in[1];
    const auto what = pooling(maps, rois);
    find_images(*version_, rois, NoImage::ends, what.images, state.images);
    auto *row = state.rows.data(), *column = state.columns.data();
    for (i64 r = 0; r < what.regions; ++r) {
      const auto* roi = rois.as<const float>() + 5 * r;
      row = put(psroi_pooling_side(attrs_, roi[2], roi[4]), what.point_rows, what.height, row);
      column = put(psroi_pooling_side(attrs_, roi[1], roi[3]), what.point_columns, what.width, column);
    }
    const RegionSides<Along> sides{state.images.data(), state.rows.data(), state.columns.data()};
    const auto* from = maps.as<const float>();
    auto* to = out[0].as<float>();
    if constexpr (kAverage) pool_own_means(what, sides, from, to, runtime.pool());
    else pool_points(what, sides, from, to, state.floats(state.turned), runtime.pool());
  }

 private:
  static constexpr bool kAverage = std::is_same_v<Along, PixelSpan>;

  struct State final : KernelState {
    std::vector<i64> images;
    std::vector<Along> rows, columns;
    Scratch turned;
  };

  RegionPooling pooling(const View& maps, const View& rois) const {
    return {.images = maps.dim(0),
            .regions = rois.dim(0),
            .channels = attrs_.output_dim,
            .height = maps.dim(2),
            .width = maps.dim(3),
            .bin_rows = attrs_.group_size,
            .bin_columns = attrs_.group_size,
            .point_rows = kAverage ? 1 : attrs_.spatial_bins_y,
            .point_columns = kAverage ? 1 : attrs_.spatial_bins_x};
  }

  /// What belongs to each bin along a side, and where it ends.
  Along* put(const RegionSide& side, i64 points, i64 length, Along* to) const {
    const auto bins = attrs_.group_size;
    for (i64 i = 0; i < bins; ++i) {
      if constexpr (kAverage) {
        *to++ = psroi_pooling_bin(i, bins, side, length);
      } else {
        for (i64 p = 0; p < points; ++p) {
          const auto at = psroi_pooling_point(i, bins, p, points, side, length);
          *to++ = {at, length, at >= 0 && at < static_cast<float>(length)};
        }
      }
    }
    return to;
  }

  const Version* version_;
  PsroiPoolingAttrs attrs_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto maps = graph.input(root, 0), rois = graph.input(root, 1);
  if (!is_f32(graph, maps) || !is_f32(graph, rois)) return std::nullopt;
  const auto& version = *graph.node(root).version;
  const auto& attrs = graph.attrs<PsroiPoolingAttrs>(root);
  std::unique_ptr<Kernel> kernel;
  if (attrs.mode == PsroiPoolingMode::average) kernel = std::make_unique<PsroiPooling<PixelSpan>>(version, attrs);
  else kernel = std::make_unique<PsroiPooling<AxisPoint>>(version, attrs);
  return Match{{root}, {maps, rois}, std::move(kernel)};
}

constexpr std::string_view kRoots[] = {"PSROIPooling"};

}  // namespace

extern constinit const Pattern pattern{.name = "psroi_pooling", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::psroi_pooling
