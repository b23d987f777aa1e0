// PSROIPooling: position-sensitive pooling: each bin of a region reads channels of its own.
// Spec: operation-sets/operation-specs/detection/psroi-pooling-1
#include "op/kit/region_pooling.hpp"
#include "op/work.hpp"
#include "ops/detection/common.hpp"

namespace ovir::ops::psroi_pooling {
namespace {

enum Input { data, rois };

using Attrs = PsroiPoolingAttrs;
using Mode = PsroiPoolingMode;

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  detection::require_count(c, a.output_dim, "output_dim");
  detection::require_count(c, a.group_size, "group_size");
  detection::require_count(c, a.spatial_bins_x, "spatial_bins_x");
  detection::require_count(c, a.spatial_bins_y, "spatial_bins_y");
  c.require_attr(a.spatial_scale > 0, "spatial_scale", "must be positive, but is {}", a.spatial_scale);
  c.require_rank(data, 4);
  c.require_rank(rois, 2);
  if (const auto& shape = c.shape(data); shape.has_rank()) {
    const auto channels =
        a.output_dim * (a.mode == Mode::average ? a.group_size * a.group_size : a.spatial_bins_x * a.spatial_bins_y);
    c.require(shape[1].contains(channels), data, Code::E0506,
              "input \"data\" of PSROIPooling must have {} channels, but its shape is {}", channels, to_string(shape));
  }
  c.output(0, PartialShape{detection::require_rois(c, rois), Dim(a.output_dim), Dim(a.group_size), Dim(a.group_size)});
}

/// The mean over the pixels that a bin touches; 0 where there are none.
template <class T>
T average(const T* map, i64 width, const PixelSpan& rows, const PixelSpan& columns) {
  if (rows.is_empty() || columns.is_empty()) return 0;
  T sum = 0;
  for (auto y = rows.begin; y < rows.end; ++y)
    for (auto x = columns.begin; x < columns.end; ++x) sum += map[y * width + x];
  return sum / static_cast<T>((columns.end - columns.begin) * (rows.end - rows.begin));
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto& maps = c.in(data);
  const auto& regions = c.in(rois);
  const auto channels = maps.dim(1), height = maps.dim(2), width = maps.dim(3), plane = height * width,
             group = a.group_size;
  auto& out = c.out(0, {regions.dim(0), a.output_dim, group, group});
  dispatch(maps.type(), Floats{}, [&]<class T>() {
    T* to = out.mutable_data<T>();
    std::fill_n(to, out.size(), T(0));
    for (i64 r = 0; r < regions.dim(0); ++r) {
      const T* roi = regions.data<T>() + r * 5;
      const auto batch = region_image(roi[0]);
      if (batch == -1) break;  // as Proposal ends its list
      detection::require_batch(c, rois, r, batch, maps);
      const auto x = psroi_pooling_side(a, roi[1], roi[3]), y = psroi_pooling_side(a, roi[2], roi[4]);
      const T* image = maps.data<T>() + batch * channels * plane;
      for (i64 k = 0; k < a.output_dim; ++k)
        for (i64 ph = 0; ph < group; ++ph)
          for (i64 pw = 0; pw < group; ++pw) {
            T& pooled = to[((r * a.output_dim + k) * group + ph) * group + pw];
            if (a.mode == Mode::average) {
              pooled = average(image + ((k * group + ph) * group + pw) * plane, width,
                               psroi_pooling_bin(ph, group, y, height), psroi_pooling_bin(pw, group, x, width));
              continue;
            }
            for (i64 by = 0; by < a.spatial_bins_y; ++by)
              for (i64 bx = 0; bx < a.spatial_bins_x; ++bx)
                pooled +=
                    detection::bilinear(image + ((by * a.spatial_bins_x + bx) * a.output_dim + k) * plane,
                                        psroi_pooling_point(pw, group, bx, a.spatial_bins_x, x, width),
                                        psroi_pooling_point(ph, group, by, a.spatial_bins_y, y, height), width, height);
            pooled /= static_cast<T>(a.spatial_bins_x * a.spatial_bins_y);
          }
    }
  });
}

/// The bins of a region cover no more than the maps of an image, or are so many samples.
i64 steps(const Version& version, const void* attrs, std::span<const Shape> in, std::span<const Shape> out) {
  constexpr i64 kSample = 16;
  const auto& a = version.attrs.as<Attrs>(attrs);
  return a.mode == Mode::average
             ? saturating_mul(in[rois][0], saturating_count(in[data], 1))
             : saturating_mul(saturating_count(out[0]), kSample * a.spatial_bins_x * a.spatial_bins_y);
}

constexpr TypeVar T{"T", kFloat};
constexpr PortDef kInputs[] = {{"data", T}, {"rois", T}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs =
         attributes<Attrs, Attr<"output_dim", &Attrs::output_dim, kRequired>, Attr<"group_size", &Attrs::group_size>,
                    Attr<"spatial_scale", &Attrs::spatial_scale, kRequired>, Attr<"mode", &Attrs::mode>,
                    Attr<"spatial_bins_x", &Attrs::spatial_bins_x>, Attr<"spatial_bins_y", &Attrs::spatial_bins_y>>,
     .infer = infer,
     .eval = eval,
     .steps = steps},
};

}  // namespace

extern constinit const OpDef def{.type = "PSROIPooling", .spec = "detection/psroi-pooling", .versions = kVersions};

}  // namespace ovir::ops::psroi_pooling
