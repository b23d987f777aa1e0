// ROIAlignRotated: regions rotated by an angle, resampled to a fixed size with bilinear interpolation.
// Spec: operation-sets/operation-specs/detection/roi-align-rotated-15
#include "ops/detection/common.hpp"

namespace ovir::ops::roi_align_rotated {
namespace {

enum Input { data, rois, batch_indices };

struct Attrs {
  i64 pooled_h = 0, pooled_w = 0, sampling_ratio = 0;
  float spatial_scale = 0;
  bool clockwise_mode = false;
};

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  detection::require_bins(c, a);
  c.require_attr(a.spatial_scale > 0, "spatial_scale", "must be positive, but is {}", a.spatial_scale);
  detection::infer_aligned(c, a.pooled_h, a.pooled_w, 5, "5 numbers for each region");
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
    T* to = out.mutable_data<T>();
    std::fill_n(to, out.size(), T(0));
    for (i64 r = 0; r < regions.dim(0); ++r, to += channels * bins) {
      const auto batch = batches[r];
      detection::require_batch(c, batch_indices, r, batch, maps);
      const T* roi = regions.data<T>() + r * 5;
      // "Each ROI box's center is shifted by [-0.5, -0.5]"
      const T x0 = roi[0] * scale - half, y0 = roi[1] * scale - half, w = roi[2] * scale, h = roi[3] * scale,
              angle = a.clockwise_mode ? -roi[4] : roi[4];
      const T cos = std::cos(angle), sin = std::sin(angle);
      detection::sample_bins(c, a, r, channels, -w / 2, -h / 2, w, h, [&](i64 bin, T x, T y, T samples) {
        const detection::BilinearSample<T> sample(y * sin + x * cos + x0, y * cos - x * sin + y0, width, height);
        for (i64 ch = 0; ch < channels; ++ch)
          to[ch * bins + bin] += sample.of(maps.data<T>() + (batch * channels + ch) * plane) / samples;
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
constexpr Version kVersions[] = {
    {.since = 15,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs =
         attributes<Attrs, Attr<"pooled_h", &Attrs::pooled_h, kRequired>, Attr<"pooled_w", &Attrs::pooled_w, kRequired>,
                    Attr<"sampling_ratio", &Attrs::sampling_ratio, kRequired>,
                    Attr<"spatial_scale", &Attrs::spatial_scale, kRequired>,
                    Attr<"clockwise_mode", &Attrs::clockwise_mode>>,
     .infer = infer,
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{
    .type = "ROIAlignRotated", .spec = "detection/roi-align-rotated", .versions = kVersions};

}  // namespace ovir::ops::roi_align_rotated
