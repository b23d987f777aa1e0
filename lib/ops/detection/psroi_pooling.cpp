// PSROIPooling: position-sensitive pooling: each bin of a region reads channels of its own.
// Spec: operation-sets/operation-specs/detection/psroi-pooling-1
#include "op/work.hpp"
#include "ops/detection/common.hpp"

namespace ovir::ops::psroi_pooling {
namespace {

enum class Mode : std::uint8_t { average, bilinear };
constexpr auto words(Mode) {
  return std::to_array<Word<Mode>>({{"average", Mode::average}, {"bilinear", Mode::bilinear}});
}

enum Input { data, rois };

struct Attrs {
  i64 output_dim = 0, group_size = 1, spatial_bins_x = 1, spatial_bins_y = 1;
  float spatial_scale = 0;
  Mode mode = Mode::average;
};

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
T average(const T* map, i64 width, i64 height, float x0, float x1, float y0, float y1) {
  // A region of infinite size makes NaN here, which the comparison takes for 0; clamp would let it through.
  const auto whole = [](float v, i64 max) {
    return v > 0 ? static_cast<i64>(std::min(v, static_cast<float>(max))) : i64{0};
  };
  const auto left = whole(std::floor(x0), width - 1), right = whole(std::ceil(x1), width),
             top = whole(std::floor(y0), height - 1), bottom = whole(std::ceil(y1), height);
  if (width == 0 || height == 0 || left >= right || top >= bottom) return 0;
  T sum = 0;
  for (auto y = top; y < bottom; ++y)
    for (auto x = left; x < right; ++x) sum += map[y * width + x];
  return sum / static_cast<T>((right - left) * (bottom - top));
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
      const auto batch = static_cast<i64>(roi[0]);
      if (batch == -1) break;  // as Proposal ends its list
      detection::require_batch(c, rois, r, batch, maps);
      // Averages are taken of whole pixels; bilinear regions are normalized to the image.
      const auto side = [&](T v, float more) {
        return a.mode == Mode::average ? (std::round(static_cast<float>(v)) + more) * a.spatial_scale
                                       : static_cast<float>(v) * a.spatial_scale;
      };
      const float x0 = side(roi[1], 0), y0 = side(roi[2], 0), w = side(roi[3], 1) - x0, h = side(roi[4], 1) - y0;
      const T* image = maps.data<T>() + batch * channels * plane;
      for (i64 k = 0; k < a.output_dim; ++k)
        for (i64 ph = 0; ph < group; ++ph)
          for (i64 pw = 0; pw < group; ++pw) {
            T& pooled = to[((r * a.output_dim + k) * group + ph) * group + pw];
            if (a.mode == Mode::average) {
              const float bin_w = w / static_cast<float>(group), bin_h = h / static_cast<float>(group);
              pooled = average(image + ((k * group + ph) * group + pw) * plane, width, height,
                               x0 + static_cast<float>(pw) * bin_w, x0 + static_cast<float>(pw + 1) * bin_w,
                               y0 + static_cast<float>(ph) * bin_h, y0 + static_cast<float>(ph + 1) * bin_h);
              continue;
            }
            // Each sub-bin is a grid of group by group samples, corner to corner; a bin averages one of each.
            const auto point = [&](i64 i, i64 p, float first, float bin, i64 length) {
              const float start = first + static_cast<float>(i) * bin, n = static_cast<float>(length - 1);
              return group > 1 ? static_cast<float>(p) * (bin * n / static_cast<float>(group - 1)) + start * n
                               : (start + start + bin) * n / 2;
            };
            for (i64 by = 0; by < a.spatial_bins_y; ++by)
              for (i64 bx = 0; bx < a.spatial_bins_x; ++bx)
                pooled += detection::bilinear(image + ((by * a.spatial_bins_x + bx) * a.output_dim + k) * plane,
                                              point(bx, pw, x0, w / static_cast<float>(a.spatial_bins_x), width),
                                              point(by, ph, y0, h / static_cast<float>(a.spatial_bins_y), height),
                                              width, height);
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
