// ROIAlignRotated: regions turned by an angle, resampled to a fixed size with bilinear interpolation.
// Spec: operation-sets/operation-specs/detection/roi-align-rotated-15
#include "op/bilinear.hpp"
#include "op/op.hpp"

namespace ovir::ops::roi_align_rotated {
namespace {

enum Input { data, rois, batch_indices };

struct Attrs {
  std::int64_t pooled_h = 0, pooled_w = 0, sampling_ratio = 0;
  float spatial_scale = 0;
  bool clockwise_mode = false;
};

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  c.require_attr(a.pooled_h > 0, "pooled_h", "{} is not positive", a.pooled_h);
  c.require_attr(a.pooled_w > 0, "pooled_w", "{} is not positive", a.pooled_w);
  c.require_attr(0 <= a.sampling_ratio && a.sampling_ratio <= kMostBinSamples, "sampling_ratio", "{} lies outside of 0..{}", a.sampling_ratio,
                 kMostBinSamples);
  c.require_attr(a.spatial_scale > 0, "spatial_scale", "{} is not positive", a.spatial_scale);
  c.require_rank(data, 4);
  c.require_rank(rois, 2);
  c.require_rank(batch_indices, 1);
  Dim count, channels;
  if (c.shape(data).has_rank()) channels = c.shape(data)[1];
  if (const auto& shape = c.shape(rois); shape.has_rank()) {
    c.require(shape[1].contains(5), rois, Code::E0506, "rois of ROIAlignRotated must have 5 numbers each, but their shape is {}", to_string(shape));
    count = shape[0];
  }
  if (c.shape(batch_indices).has_rank())
    count = c.require_same_dim(count, c.shape(batch_indices)[0], batch_indices, "the number of rois", "that of batch_indices");
  c.output(0, PartialShape{count, channels, Dim(a.pooled_h), Dim(a.pooled_w)});
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto& maps = c.in(data);
  const auto& regions = c.in(rois);
  const auto batches = c.ints(batch_indices);
  const auto channels = maps.dim(1), height = maps.dim(2), width = maps.dim(3), plane = height * width;
  auto& out = c.out(0, {regions.dim(0), channels, a.pooled_h, a.pooled_w});
  if (out.size() == 0) return;
  if (plane == 0) fail(Code::E0506, "ROIAlignRotated cannot sample feature maps of shape {}", to_string(maps.shape()));
  dispatch(maps.type(), Reals{}, [&]<class T>() {
    const auto scale = static_cast<T>(a.spatial_scale), half = static_cast<T>(0.5);
    T* to = out.mutable_data<T>();
    std::fill_n(to, out.size(), T(0));
    for (std::int64_t r = 0; r < regions.dim(0); ++r) {
      const auto batch = batches[static_cast<std::size_t>(r)];
      if (batch < 0 || batch >= maps.dim(0)) fail(Code::E0507, "roi {} is of batch {}, but data has {}", r, batch, maps.dim(0));
      const T* roi = regions.data<T>() + r * 5;
      // "Each ROI box's center is shifted by [-0.5, -0.5]"
      const T x0 = roi[0] * scale - half, y0 = roi[1] * scale - half, w = roi[2] * scale, h = roi[3] * scale,
              angle = a.clockwise_mode ? -roi[4] : roi[4];
      const T cos = std::cos(angle), sin = std::sin(angle);
      const T bin_w = w / static_cast<T>(a.pooled_w), bin_h = h / static_cast<T>(a.pooled_h);
      const auto samples = [&](T bin) {
        if (a.sampling_ratio > 0) return a.sampling_ratio;
        if (!(bin <= static_cast<T>(kMostBinSamples))) fail(Code::E0508, "roi {} is too large to be sampled", r);
        return std::max<std::int64_t>(0, static_cast<std::int64_t>(std::ceil(bin)));
      };
      const auto nx = samples(bin_w), ny = samples(bin_h);
      for (std::int64_t ph = 0; ph < a.pooled_h; ++ph)
        for (std::int64_t pw = 0; pw < a.pooled_w; ++pw)
          for (std::int64_t iy = 0; iy < ny; ++iy)
            for (std::int64_t ix = 0; ix < nx; ++ix) {
              const T y = -h / 2 + static_cast<T>(ph) * bin_h + bin_h / static_cast<T>(ny) * (static_cast<T>(iy) + half);
              const T x = -w / 2 + static_cast<T>(pw) * bin_w + bin_w / static_cast<T>(nx) * (static_cast<T>(ix) + half);
              const BilinearSample<T> sample(y * sin + x * cos + x0, y * cos - x * sin + y0, width, height);
              for (std::int64_t ch = 0; ch < channels; ++ch) {
                const T* map = maps.data<T>() + (batch * channels + ch) * plane;
                to[((r * channels + ch) * a.pooled_h + ph) * a.pooled_w + pw] += sample.of(map) / static_cast<T>(nx * ny);
              }
            }
    }
  });
}

constexpr TypeVar T{"T", kFloat}, TIndex{"IND_T", kInteger};
constexpr PortDef kInputs[] = {{"data", T}, {"rois", T}, {"batch_indices", TIndex}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr Version kVersions[] = {
    {.since = 15,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"pooled_h", &Attrs::pooled_h, kRequired>, Attr<"pooled_w", &Attrs::pooled_w, kRequired>,
                         Attr<"sampling_ratio", &Attrs::sampling_ratio, kRequired>, Attr<"spatial_scale", &Attrs::spatial_scale, kRequired>,
                         Attr<"clockwise_mode", &Attrs::clockwise_mode>>,
     .infer = infer,
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "ROIAlignRotated", .versions = kVersions};

}  // namespace ovir::ops::roi_align_rotated
