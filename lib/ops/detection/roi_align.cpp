// ROIAlign: regions resampled to a fixed size with bilinear interpolation.
// Spec: operation-sets/operation-specs/detection/roi-align-3, roi-align-9
#include "op/kit/image_attrs.hpp"
#include "ops/detection/common.hpp"

namespace ovir::ops::roi_align {
namespace {

using Mode = RoiAlignMode;
using Aligned = RoiAlignedMode;
using Attrs = RoiAlignAttrs;

enum Input { data, rois, batch_indices };

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  detection::require_bins(c, a);
  detection::infer_aligned(c, a.pooled_h, a.pooled_w, 4, "4 numbers for each region");
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto& maps = c.in(data);
  const auto& regions = c.in(rois);
  const auto batches = c.ints(batch_indices);
  const auto channels = maps.dim(1), height = maps.dim(2), width = maps.dim(3), plane = height * width;
  auto& out = c.out(0, {regions.dim(0), channels, a.pooled_h, a.pooled_w});
  if (out.size() == 0) return;
  const auto bins = a.pooled_h * a.pooled_w;
  dispatch(maps.type(), Floats{}, [&]<class T>() {
    const auto scale = static_cast<T>(a.spatial_scale), half = static_cast<T>(0.5);
    // Where a coordinate is shifted: before scaling, and after it.
    const T before = a.aligned_mode == Aligned::half_pixel ? half : T(0),
            after = a.aligned_mode == Aligned::asymmetric ? T(0) : half;
    const auto place = [&](T v) { return (v + before) * scale - after; };
    T* to = out.mutable_data<T>();
    std::fill_n(to, out.size(), T(0));
    for (i64 r = 0; r < regions.dim(0); ++r, to += channels * bins) {
      const auto batch = batches[r];
      detection::require_batch(c, batch_indices, r, batch, maps);
      const T* roi = regions.data<T>() + r * 4;
      const T x0 = place(roi[0]), y0 = place(roi[1]);
      T w = place(roi[2]) - x0, h = place(roi[3]) - y0;
      if (a.aligned_mode == Aligned::asymmetric) {  // regions of less than a pixel are made one
        w = std::max(w, T(1));
        h = std::max(h, T(1));
      }
      detection::sample_bins(c, a, r, channels, x0, y0, w, h, [&](i64 bin, T x, T y, T samples) {
        const detection::BilinearSample<T> sample(x, y, width, height);
        for (i64 ch = 0; ch < channels; ++ch) {
          const T value = sample.of(maps.data<T>() + (batch * channels + ch) * plane);
          T& pooled = to[ch * bins + bin];
          pooled = a.mode == Mode::avg ? pooled + value / samples : std::max(pooled, value);
        }
      });
    }
  });
}

constexpr TypeVar T{"T", kFloat}, TIndex{"IND_T", kInteger};
constexpr PortDef kInputs[] = {
    {"data", T},
    {"rois", T},
    {.name = "batch_indices", .type = TIndex, .indexes = {.along = Indexes::Along::axis, .data = data, .at = 0}}};
constexpr PortDef kOutputs[] = {{"output", T}};
template <class... More>
constexpr auto kAttrs =
    attributes<Attrs, Attr<"pooled_h", &Attrs::pooled_h, kRequired>, Attr<"pooled_w", &Attrs::pooled_w, kRequired>,
               Attr<"sampling_ratio", &Attrs::sampling_ratio, kRequired>,
               Attr<"spatial_scale", &Attrs::spatial_scale, kRequired>, Attr<"mode", &Attrs::mode, kRequired>, More...>;
constexpr Version kVersions[] = {
    {.since = 3, .inputs = kInputs, .outputs = kOutputs, .attrs = kAttrs<>, .infer = infer, .eval = eval},
    {.since = 9,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = kAttrs<Attr<"aligned_mode", &Attrs::aligned_mode>>,
     .infer = infer,
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "ROIAlign", .spec = "detection/roi-align", .versions = kVersions};

}  // namespace ovir::ops::roi_align
