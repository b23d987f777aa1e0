// DeformablePSROIPooling of f32.
#include "fast/kernels/image/deformable_region_pooling.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/region_images.hpp"

namespace ovir::fast::patterns::deformable_psroi_pooling {
namespace {

class DeformablePsroiPooling final : public Kernel {
 public:
  DeformablePsroiPooling(const Version& version, DeformablePsroiPoolingAttrs attrs)
      : version_(&version), attrs_(std::move(attrs)) {}

  std::string name() const override { return "deformable_psroi_pooling"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    auto state = std::make_unique<State>();
    state->images.resize(sizes.in[1].dim(0));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& images = static_cast<State&>(prepared).images;
    const auto &maps = in[0], &rois = in[1];
    const bool shifted = in.size() > 2;
    find_images(*version_, rois, NoImage::passes, maps.dim(0), images);
    pool_deformable({.attrs = attrs_,
                     .regions = rois.dim(0),
                     .height = maps.dim(2),
                     .width = maps.dim(3),
                     .offset_channels = shifted ? in[2].dim(1) : 0,
                     .image = images.data(),
                     .rois = rois.as<const float>(),
                     .offsets = shifted ? in[2].as<const float>() : nullptr},
                    maps.as<const float>(), out[0].as<float>(), runtime.pool());
  }

 private:
  struct State final : KernelState {
    std::vector<i64> images;
  };

  const Version* version_;
  DeformablePsroiPoolingAttrs attrs_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto& attrs = graph.attrs<DeformablePsroiPoolingAttrs>(root);
  if (std::max(attrs.spatial_bins_x, attrs.spatial_bins_y) > kMostDeformablePoints) return std::nullopt;
  std::vector<ValueRef> inputs{graph.input(root, 0), graph.input(root, 1)};
  if (const auto offsets = graph.input(root, 2); offsets.node >= 0) inputs.push_back(offsets);
  for (const auto& v : inputs)
    if (!is_f32(graph, v)) return std::nullopt;
  return Match{{root}, std::move(inputs), std::make_unique<DeformablePsroiPooling>(*graph.node(root).version, attrs)};
}

constexpr std::string_view kRoots[] = {"DeformablePSROIPooling"};

}  // namespace

extern constinit const Pattern pattern{.name = "deformable_psroi_pooling", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::deformable_psroi_pooling
