// ROIAlign of f32.
#include "fast/kernels/image/roi_align.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "fast/kit/functions.hpp"
#include "op/kit/bilinear_sample.hpp"
#include "op/kit/image_attrs.hpp"
#include "op/ports.hpp"
#include "op/work.hpp"

namespace ovir::fast::patterns::roi_align {
namespace {

class RoiAlign final : public Kernel {
 public:
  RoiAlign(const Version& version, const RoiAlignAttrs& attrs) : version_(&version), attrs_(attrs) {}

  std::string name() const override { return "roi_align"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    auto state = std::make_unique<State>();
    state->regions.resize(sizes.in[1].dim(0));
    state->turned = state->reserve(roi_align_scratch_size(aligning(sizes.in[0], sizes.in[1])));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    auto& regions = state.regions;
    const auto& maps = in[0];
    for (i64 r = 0; r < std::ssize(regions); ++r) regions[r] = region(r, maps, in[1], in[2]);
    fast::roi_align(aligning(maps, in[1]), regions.data(), maps.as<const float>(), out[0].as<float>(),
                    state.floats(state.turned), runtime.pool());
  }

 private:
  struct State final : KernelState {
    std::vector<Region> regions;
    Scratch turned;
  };

  RoiAligning aligning(const View& maps, const View& rois) const {
    return {.images = maps.dim(0),
            .regions = rois.dim(0),
            .channels = maps.dim(1),
            .height = maps.dim(2),
            .width = maps.dim(3),
            .bin_rows = attrs_.pooled_h,
            .bin_columns = attrs_.pooled_w,
            .largest = attrs_.mode == RoiAlignMode::max};
  }

  Region region(i64 r, const View& maps, const View& rois, const View& images) const {
    const auto image =
        images.type == ElementType::i64 ? images.as<const i64>()[r] : i64{images.as<const std::int32_t>()[r]};
    if (image < 0 || image >= maps.dim(0))
      fail_at(*version_, 2, Code::E0507,
              fmt::format("region {} names image {}, but \"data\" has {}", r, image, counted(maps.dim(0), "image")));
    // Where a coordinate is shifted: before scaling, and after it.
    const auto before = attrs_.aligned_mode == RoiAlignedMode::half_pixel ? 0.5F : 0.0F,
               after = attrs_.aligned_mode == RoiAlignedMode::asymmetric ? 0.0F : 0.5F;
    const auto place = [&](float v) { return (v + before) * attrs_.spatial_scale - after; };
    const auto* roi = rois.as<const float>() + 4 * r;
    const auto x = place(roi[0]), y = place(roi[1]);
    auto width = place(roi[2]) - x, height = place(roi[3]) - y;
    if (attrs_.aligned_mode == RoiAlignedMode::asymmetric) {  // regions of less than a pixel are made one
      width = std::max(width, 1.0F);
      height = std::max(height, 1.0F);
    }
    const auto bin_width = width / static_cast<float>(attrs_.pooled_w),
               bin_height = height / static_cast<float>(attrs_.pooled_h);
    const auto columns = samples(r, bin_width), rows = samples(r, bin_height);
    // Where a region decides how many samples are taken, it may ask for hours.
    const auto all = saturating_mul(saturating_mul(attrs_.pooled_h, attrs_.pooled_w), columns * rows);
    spend(saturating_mul(all, maps.dim(1) + 8) / kStepsAtOnce);
    return {image, x, y, bin_width, bin_height, columns, rows};
  }

  /// Along a side of a bin: as many as asked for, or one a pixel.
  i64 samples(i64 r, float side) const {
    if (attrs_.sampling_ratio > 0) return attrs_.sampling_ratio;
    if (!(side <= static_cast<float>(kMaxBinSamples)))
      fail_at(*version_, 1, Code::E0508, fmt::format("region {} is too large to be sampled", r));
    return static_cast<i64>(std::ceil(std::max(side, 0.0F)));
  }

  const Version* version_;
  RoiAlignAttrs attrs_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto maps = graph.input(root, 0), rois = graph.input(root, 1), images = graph.input(root, 2);
  const auto index = graph.stored(images);
  if (!is_f32(graph, maps) || !is_f32(graph, rois) || (index != ElementType::i32 && index != ElementType::i64))
    return std::nullopt;
  return Match{{root},
               {maps, rois, images},
               std::make_unique<RoiAlign>(*graph.node(root).version, graph.attrs<RoiAlignAttrs>(root))};
}

constexpr std::string_view kRoots[] = {"ROIAlign"};

}  // namespace

extern constinit const Pattern pattern{.name = "roi_align", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::roi_align
