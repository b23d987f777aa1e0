// ExperimentalDetectronROIFeatureExtractor: ROIAlign from that level of a feature pyramid which fits a region's size.
// Spec: operation-sets/operation-specs/detection/experimental-detectron-roi-feature-extractor-6
#include "ops/detection/common.hpp"

namespace ovir::ops::experimental_detectron_roi_feature_extractor {
namespace {

enum Input { rois, first_level };
enum Output { features, output_rois };

struct Attrs {
  i64 output_size = 0, sampling_ratio = 0;
  std::vector<i64> pyramid_scales;
  bool aligned = false;
};

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  c.require_attr(0 < a.output_size && a.output_size < (1 << 20), "output_size", "must be in 1..{1}, but is {0}",
                 a.output_size, (1 << 20) - 1);
  detection::require_sampling_ratio(c, a.sampling_ratio);
  c.require_attr(std::ssize(a.pyramid_scales) >= c.input_count() - 1, "pyramid_scales",
                 "must hold a scale for each of {1} levels, but holds {0}", a.pyramid_scales.size(),
                 c.input_count() - 1);
  c.require_each(
      a.pyramid_scales, [](i64 s) { return s > 0; }, "pyramid_scales", "must hold positive numbers, but holds {}");
  c.require_rank(rois, 2);
  Dim count, channels;
  if (const auto& shape = c.shape(rois); shape.has_rank()) {
    c.require(shape[1].contains(4), rois, Code::E0506,
              "input \"rois\" of ExperimentalDetectronROIFeatureExtractor must have 4 columns, but its shape is {}",
              to_string(shape));
    count = shape[0];
  }
  for (int port = first_level; port < c.input_count(); ++port) {
    c.require_rank(port, 4);
    const auto& shape = c.shape(port);
    if (!shape.has_rank()) continue;
    c.require(shape[0].contains(1), port, Code::E0506, "input \"{}\" must have batch 1, but its shape is {}",
              c.port_name(port), to_string(shape));
    channels = c.require_same_dim(channels, shape[1], port, "the number of channels of \"pyramid[0]\"",
                                  fmt::format("that of \"{}\"", c.port_name(port)));
  }
  c.output(features, PartialShape{count, channels, Dim(a.output_size), Dim(a.output_size)});
  if (c.output_count() > output_rois) c.output(output_rois, PartialShape{count, Dim(4)});
}

/// A region of 224 pixels belongs to level 2, one twice as large to the next. Nothing for an empty region.
template <class T>
std::optional<int> level_of(const T* roi, int levels) {
  const auto area = static_cast<float>(roi[2] - roi[0]) * static_cast<float>(roi[3] - roi[1]);
  if (!(area > 0)) return std::nullopt;
  const float level = std::floor(std::log2(std::sqrt(area) / 224.0F + 1e-6F) + 2.0F);
  return static_cast<int>(std::clamp(level, 0.0F, static_cast<float>(levels - 1)));
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto& regions = c.in(rois);
  const int levels = c.input_count() - 1;
  const auto channels = c.in(first_level).dim(1), size = a.output_size;
  auto& out = c.out(features, {regions.dim(0), channels, size, size});
  dispatch(out.type(), Floats{}, [&]<class T>() {
    T* to = out.mutable_data<T>();
    std::fill_n(to, out.size(), T(0));
    const T half = static_cast<T>(0.5), shift = a.aligned ? half : T(0);
    for (i64 r = 0; r < regions.dim(0); ++r, to += channels * size * size) {
      const T* roi = regions.data<T>() + r * 4;
      const auto level = level_of(roi, levels);
      if (!level) continue;
      const Tensor& maps = c.in(first_level + *level);
      const auto height = maps.dim(2), width = maps.dim(3);
      if (height == 0 || width == 0) continue;
      const T scale = T(1) / static_cast<T>(a.pyramid_scales[*level]);
      const T x0 = roi[0] * scale - shift, y0 = roi[1] * scale - shift;
      const T w = std::max(roi[2] * scale - shift - x0, T(1)), h = std::max(roi[3] * scale - shift - y0, T(1));
      const T bin_w = w / static_cast<T>(size), bin_h = h / static_cast<T>(size);
      const auto nx = detection::bin_samples(c, 0, static_cast<double>(bin_w), a.sampling_ratio, r),
                 ny = detection::bin_samples(c, 0, static_cast<double>(bin_h), a.sampling_ratio, r);
      detection::spend_samples(saturating_mul(size * size, nx * ny), channels);
      for (i64 ph = 0; ph < size; ++ph)
        for (i64 pw = 0; pw < size; ++pw)
          for (i64 iy = 0; iy < ny; ++iy)
            for (i64 ix = 0; ix < nx; ++ix) {
              const T y = y0 + static_cast<T>(ph) * bin_h + (static_cast<T>(iy) + half) * bin_h / static_cast<T>(ny);
              const T x = x0 + static_cast<T>(pw) * bin_w + (static_cast<T>(ix) + half) * bin_w / static_cast<T>(nx);
              const detection::BilinearSample<T> sample(x, y, width, height);
              for (i64 ch = 0; ch < channels; ++ch)
                to[(ch * size + ph) * size + pw] +=
                    sample.of(maps.data<T>() + ch * height * width) / static_cast<T>(nx * ny);
            }
    }
  });
  if (c.output_count() > output_rois) c.set_out(output_rois, c.stored(rois));
}

constexpr TypeVar T{"T", kFloat};
constexpr PortDef kInputs[] = {{"rois", T}, {"pyramid", T, Arity::variadic}};
constexpr PortDef kOutputs[] = {{"roi_features", T}, {"output_rois", T}};
constexpr Version kVersions[] = {
    {.since = 6,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"output_size", &Attrs::output_size, kRequired>,
                         Attr<"sampling_ratio", &Attrs::sampling_ratio, kRequired>,
                         Attr<"pyramid_scales", &Attrs::pyramid_scales, kRequired>, Attr<"aligned", &Attrs::aligned>>,
     .infer = infer,
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "ExperimentalDetectronROIFeatureExtractor",
                                 .spec = "detection/experimental-detectron-roi-feature-extractor",
                                 .versions = kVersions};

}  // namespace ovir::ops::experimental_detectron_roi_feature_extractor
