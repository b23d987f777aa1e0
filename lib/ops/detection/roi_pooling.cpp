// ROIPooling: regions pooled to a fixed size, by the maximum of each bin or by bilinear interpolation.
// Spec: operation-sets/operation-specs/detection/roi-pooling-1
#include "op/kit/region_pooling.hpp"
#include "op/work.hpp"
#include "ops/detection/common.hpp"

namespace ovir::ops::roi_pooling {
namespace {

enum Input { data, rois };

using Attrs = RoiPoolingAttrs;

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  if (!a.pooled_h && a.height() == 0) c.fail_attr("pooled_h", "is required", Code::E0401);
  if (!a.pooled_w && a.width() == 0) c.fail_attr("pooled_w", "is required", Code::E0401);
  c.require_attr(a.height() > 0, "pooled_h", "must be positive, but is {}", a.height());
  c.require_attr(a.width() > 0, "pooled_w", "must be positive, but is {}", a.width());
  c.require_attr(a.spatial_scale > 0, "spatial_scale", "must be positive, but is {}", a.spatial_scale);
  c.require_rank(data, 4);
  c.require_rank(rois, 2);
  const auto channels = c.shape(data).dim(1);
  c.output(0, PartialShape{detection::require_rois(c, rois), channels, Dim(a.height()), Dim(a.width())});
}

template <class T>
T bilinear(const T* map, T x, T y, i64 width, i64 height) {
  if (!(0 <= x && x <= static_cast<T>(width - 1) && 0 <= y && y <= static_cast<T>(height - 1))) return 0;
  const auto left = static_cast<i64>(x), top = static_cast<i64>(y);
  const auto right = std::min(left + 1, width - 1), bottom = std::min(top + 1, height - 1);
  const T dx = x - static_cast<T>(left), dy = y - static_cast<T>(top);
  const auto row = [&](i64 r) { return map[r * width + left] + (map[r * width + right] - map[r * width + left]) * dx; };
  return row(top) + (row(bottom) - row(top)) * dy;
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto& maps = c.in(data);
  const auto& regions = c.in(rois);
  const auto channels = maps.dim(1), height = maps.dim(2), width = maps.dim(3), plane = height * width;
  auto& out = c.out(0, {regions.dim(0), channels, a.height(), a.width()});
  dispatch(maps.type(), Floats{}, [&]<class T>() {
    T* to = out.mutable_data<T>();
    std::fill_n(to, out.size(), T(0));
    for (i64 r = 0; r < regions.dim(0); ++r) {
      const T* roi = regions.data<T>() + r * 5;
      const auto batch = region_image(roi[0]);
      if (batch == -1) break;  // as Proposal ends its list
      detection::require_batch(c, rois, r, batch, maps);
      for (i64 ch = 0; ch < channels; ++ch) {
        const T* map = maps.data<T>() + (batch * channels + ch) * plane;
        for (i64 ph = 0; ph < a.height(); ++ph)
          for (i64 pw = 0; pw < a.width(); ++pw) {
            T& pooled = to[((r * channels + ch) * a.height() + ph) * a.width() + pw];
            if (a.method == RoiPoolingMethod::bilinear) {
              pooled = bilinear(map, roi_pooling_point(pw, a.width(), roi[1], roi[3], width),
                                roi_pooling_point(ph, a.height(), roi[2], roi[4], height), width, height);
              continue;
            }
            const auto bin = [&](i64 i, i64 bins, T first, T last, i64 length) {
              return roi_pooling_bin<T>(i, bins, roi_pooling_pixel(first, a.spatial_scale),
                                        roi_pooling_pixel(last, a.spatial_scale), length);
            };
            const auto rows = bin(ph, a.height(), roi[2], roi[4], height),
                       columns = bin(pw, a.width(), roi[1], roi[3], width);
            if (rows.is_empty() || columns.is_empty()) continue;  // empty: 0
            pooled = std::numeric_limits<T>::lowest();
            for (auto y = rows.begin; y < rows.end; ++y)
              for (auto x = columns.begin; x < columns.end; ++x) pooled = std::max(pooled, map[y * width + x]);
          }
      }
    }
  });
}

/// The bins of a region cover no more than the maps of an image, and perhaps a pixel more on each side.
i64 steps(const Version&, const void*, std::span<const Shape> in, std::span<const Shape>) {
  return saturating_mul(in[rois][0], saturating_count(in[data], 1));
}

constexpr TypeVar T{"T", kFloat};
constexpr PortDef kInputs[] = {{"data", T}, {"rois", T}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr Version kVersions[] = {
    {.since = 2,
     .spec = "detection/roi-pooling-1",
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"pooled_h", &Attrs::pooled_h>, Attr<"pooled_w", &Attrs::pooled_w>,
                         Attr<"output_size", &Attrs::output_size>, Attr<"output_roi", &Attrs::output_roi>,
                         Attr<"spatial_scale", &Attrs::spatial_scale, kRequired>, Attr<"method", &Attrs::method>>,
     .infer = infer,
     .eval = eval,
     .steps = steps},
};

}  // namespace

extern constinit const OpDef def{.type = "ROIPooling", .spec = "detection/roi-pooling", .versions = kVersions};

}  // namespace ovir::ops::roi_pooling
