// DeformablePSROIPooling: position-sensitive pooling of regions whose bins may be shifted.
// Spec: operation-sets/operation-specs/detection/deformable-psroi-pooling-1
#include "op/kit/region_pooling.hpp"
#include "op/work.hpp"
#include "ops/detection/common.hpp"

namespace ovir::ops::deformable_psroi_pooling {
namespace {

enum Input { data, rois, offsets };

using Attrs = DeformablePsroiPoolingAttrs;

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  detection::require_count(c, a.output_dim, "output_dim");
  detection::require_count(c, a.group_size, "group_size");
  detection::require_count(c, a.spatial_bins_x, "spatial_bins_x");
  detection::require_count(c, a.spatial_bins_y, "spatial_bins_y");
  detection::require_count(c, a.part_size, "part_size");
  c.require_attr(a.spatial_scale > 0, "spatial_scale", "must be positive, but is {}", a.spatial_scale);
  c.require_attr(a.mode == "bilinear_deformable", "mode", "must be \"bilinear_deformable\", but is \"{}\"", a.mode);
  c.require_rank(data, 4);
  c.require_rank(rois, 2);
  if (c.shape(data).has_rank())
    c.require(c.shape(data)[1].contains(a.output_dim * a.group_size * a.group_size), data, Code::E0506,
              "input \"data\" of DeformablePSROIPooling must have {} channels (output_dim * group_size^2), but its "
              "shape is {}",
              a.output_dim * a.group_size * a.group_size, to_string(c.shape(data)));
  auto count = detection::require_rois(c, rois);
  if (c.has(offsets)) {
    c.require_rank(offsets, 4);
    if (const auto& shape = c.shape(offsets); shape.has_rank()) {
      count = c.require_same_dim(count, shape[0], offsets, "the number of \"rois\"", "that of \"offsets\"");
      c.require(!shape[1].is_static() || (shape[1].length() > 0 && shape[1].length() % 2 == 0), offsets, Code::E0506,
                "input \"offsets\" of DeformablePSROIPooling must have pairs of channels, but its shape is {}",
                to_string(shape));
      for (const i64 axis : {2, 3})
        c.require(
            shape[axis].contains(a.part_size), offsets, Code::E0506,
            "input \"offsets\" of DeformablePSROIPooling must have height and width {} and {}, but its shape is {}",
            a.part_size, a.part_size, to_string(shape));
    }
  }
  c.output(0, PartialShape{count, Dim(a.output_dim), Dim(a.group_size), Dim(a.group_size)});
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto& maps = c.in(data);
  const auto& regions = c.in(rois);
  const auto channels = maps.dim(1), height = maps.dim(2), width = maps.dim(3), bins = a.group_size;
  auto& out = c.out(0, {regions.dim(0), a.output_dim, bins, bins});
  const bool shifted = c.has(offsets);
  const DeformableClasses classes(a, shifted ? c.in(offsets).dim(1) : 0);
  dispatch(maps.type(), Floats{}, [&]<class T>() {
    const T* shifts = shifted ? c.in(offsets).data<T>() : nullptr;
    T* to = out.mutable_data<T>();
    std::fill_n(to, out.size(), T(0));
    for (i64 r = 0; r < regions.dim(0); ++r) {
      const T* roi = regions.data<T>() + r * 5;
      const auto batch = region_image(roi[0]);
      if (batch < 0) continue;  // no region
      detection::require_batch(c, rois, r, batch, maps);
      const auto across = deformable_psroi_pooling_side(a, roi[1], roi[3]),
                 down = deformable_psroi_pooling_side(a, roi[2], roi[4]);
      const float bin_w = across.length / static_cast<float>(bins), bin_h = down.length / static_cast<float>(bins);
      for (i64 k = 0; k < a.output_dim; ++k)
        for (i64 h = 0; h < bins; ++h)
          for (i64 w = 0; w < bins; ++w) {
            float x = across.first + static_cast<float>(w) * bin_w, y = down.first + static_cast<float>(h) * bin_h;
            if (shifts) {
              const auto pair = (r * classes.count + classes.of(k)) * 2, part = a.part_size;
              const auto at = h * part / bins * part + w * part / bins;
              x += static_cast<float>(shifts[pair * part * part + at] * static_cast<T>(a.trans_std)) * across.length;
              y +=
                  static_cast<float>(shifts[(pair + 1) * part * part + at] * static_cast<T>(a.trans_std)) * down.length;
            }
            // Every bin of every output channel reads a channel of its own.
            const T* map = maps.data<T>() + (batch * channels + (k * bins + h) * bins + w) * height * width;
            T sum = 0;
            i64 samples = 0;
            for (i64 i = 0; i < a.spatial_bins_y; ++i)
              for (i64 j = 0; j < a.spatial_bins_x; ++j) {
                const float sy = deformable_psroi_pooling_point(i, a.spatial_bins_y, y, bin_h),
                            sx = deformable_psroi_pooling_point(j, a.spatial_bins_x, x, bin_w);
                if (!deformable_psroi_pooling_counts(sx, width) || !deformable_psroi_pooling_counts(sy, height))
                  continue;
                sum += detection::bilinear(map, std::clamp(sx, 0.0F, static_cast<float>(width - 1)),
                                           std::clamp(sy, 0.0F, static_cast<float>(height - 1)), width, height);
                ++samples;
              }
            if (samples > 0) to[((r * a.output_dim + k) * bins + h) * bins + w] = sum / static_cast<T>(samples);
          }
    }
  });
}

i64 steps(const Version& version, const void* attrs, std::span<const Shape>, std::span<const Shape> out) {
  constexpr i64 kSample = 16;
  const auto& a = version.attrs.as<Attrs>(attrs);
  return saturating_mul(saturating_count(out[0]),
                        saturating_mul(saturating_mul(kSample, a.spatial_bins_x), a.spatial_bins_y));
}

constexpr TypeVar T{"T", kFloat};
constexpr PortDef kInputs[] = {{"data", T}, {"rois", T}, {"offsets", T, Arity::optional}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"output_dim", &Attrs::output_dim, kRequired>,
                         Attr<"spatial_scale", &Attrs::spatial_scale, kRequired>,
                         Attr<"group_size", &Attrs::group_size>, Attr<"mode", &Attrs::mode>,
                         Attr<"spatial_bins_x", &Attrs::spatial_bins_x>, Attr<"spatial_bins_y", &Attrs::spatial_bins_y>,
                         Attr<"trans_std", &Attrs::trans_std>, Attr<"part_size", &Attrs::part_size>>,
     .infer = infer,
     .eval = eval,
     .steps = steps},
};

}  // namespace

extern constinit const OpDef def{
    .type = "DeformablePSROIPooling", .spec = "detection/deformable-psroi-pooling", .versions = kVersions};

}  // namespace ovir::ops::deformable_psroi_pooling
