// DeformableConvolution: a convolution whose taps are moved by learned offsets and, from version 8, weighted by a mask.
// Spec: operation-sets/operation-specs/convolution/deformable-convolution-8
#include "op/kit/deformable_convolution_attrs.hpp"
#include "op/op.hpp"
#include "op/work.hpp"

namespace ovir::ops::deformable_convolution {
namespace {

enum Input { data, offsets, filters, mask };

using Attrs = DeformableConvolutionAttrs;

/// `n` groups divide a number of channels.
void require_groups(const InferContext& c, int port, i64 axis, i64 n, std::string_view attribute) {
  const auto channels = c.shape(port).dim(axis);
  if (channels.is_static())
    c.require_attr(channels.length() % n == 0, attribute, "must divide the {1} channels of \"{2}\", but is {0}", n,
                   channels.length(), c.port_name(port));
}

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  for (const auto port : {data, offsets, filters, mask}) c.require_rank(port, 4);
  require_geometry(c, "strides", a.strides, 2, 1);
  require_geometry(c, "dilations", a.dilations, 2, 1);
  require_geometry(c, "pads_begin", a.pads_begin, 2, 0);
  require_geometry(c, "pads_end", a.pads_end, 2, 0);
  c.require_attr(a.group > 0 && a.group <= kMaxGeometry, "group", "must be in 1..{1}, but is {0}", a.group,
                 kMaxGeometry);
  c.require_attr(a.deformable_group > 0 && a.deformable_group <= kMaxGeometry, "deformable_group",
                 "must be in 1..{1}, but is {0}", a.deformable_group, kMaxGeometry);
  const auto &x = c.shape(data), &w = c.shape(filters), &moved = c.shape(offsets);

  auto batch = c.require_same_dim(x.dim(0), moved.dim(0), offsets, "the batch of \"data\"", "that of \"offsets\"");
  if (c.has(mask))
    batch = c.require_same_dim(batch, c.shape(mask).dim(0), mask, "the batch of \"data\"", "that of \"mask\"");
  require_groups(c, data, 1, a.group, "group");
  require_groups(c, data, 1, a.deformable_group, "deformable_group");
  require_groups(c, filters, 0, a.group, "group");
  c.require_same_dim(x.dim(1), w.dim(1) * Dim(a.group), filters, "the number of channels of \"data\"",
                     "group * channels of \"filters\"");
  const auto taps = w.dim(2) * w.dim(3) * Dim(a.deformable_group);
  c.require_same_dim(moved.dim(1), taps * Dim(2), offsets, "the number of channels of \"offsets\"",
                     "2 * deformable_group * kernel elements");
  if (c.has(mask))
    c.require_same_dim(c.shape(mask).dim(1), taps, mask, "the number of channels of \"mask\"",
                       "deformable_group * kernel elements");

  PartialShape out{batch, w.dim(0)};
  for (i64 i = 0; i < 2; ++i) {
    auto windows = require_windows(c, a.window(i, 1), x.dim(2 + i), w.dim(2 + i), i, data, filters);
    windows = c.require_same_dim(windows, moved.dim(2 + i), offsets,
                                 fmt::format("the number of windows along spatial axis {}", i), "that of \"offsets\"");
    if (c.has(mask))
      windows = c.require_same_dim(windows, c.shape(mask).dim(2 + i), mask,
                                   fmt::format("the number of windows along spatial axis {}", i), "that of \"mask\"");
    out.push_back(windows);
  }
  c.output(0, std::move(out));
}

/// The plane at (y, x), bilinearly. With `pad` there are zeros around it. Without, a location less than a pixel beyond
/// its last row or column "shifts to the inner boundary of the feature map"; elsewhere outside it is 0 (see NOTES.md).
template <class T>
double sample(const T* plane, i64 height, i64 width, double y, double x, bool pad) {
  const double min = pad ? -1 : 0;
  if (!(y >= min && y < static_cast<double>(height) && x >= min && x < static_cast<double>(width))) return 0;
  if (!pad) {
    y = std::min(y, static_cast<double>(height - 1));
    x = std::min(x, static_cast<double>(width - 1));
  }
  const auto top = static_cast<i64>(std::floor(y)), left = static_cast<i64>(std::floor(x));
  const auto dy = y - std::floor(y), dx = x - std::floor(x);
  const auto value = [&](i64 i, i64 j) {
    return i < 0 || i >= height || j < 0 || j >= width ? 0.0 : static_cast<double>(plane[i * width + j]);
  };
  return (1 - dy) * ((1 - dx) * value(top, left) + dx * value(top, left + 1)) +
         dy * ((1 - dx) * value(top + 1, left) + dx * value(top + 1, left + 1));
}

template <class T>
void convolve(EvalContext& c, Tensor& out) {
  const auto& a = c.attrs<Attrs>();
  const auto &x = c.in(data), &moved = c.in(offsets), &w = c.in(filters);
  const auto channels = x.dim(1), height = x.dim(2), width = x.dim(3), outputs = w.dim(0), inner = w.dim(1),
             kh = w.dim(2), kw = w.dim(3), rows = out.dim(2), columns = out.dim(3);
  const auto v = a.window(0, kh).resolved(height), h = a.window(1, kw).resolved(width);
  const auto taps = kh * kw, plane = rows * columns;
  const T* weights = c.has(mask) ? c.in(mask).data<T>() : nullptr;
  std::pmr::vector<double> sampled(channels * taps, c.memory());  // what the taps of one output position see
  for (i64 n = 0; n < x.dim(0); ++n)
    for (i64 p = 0; p < plane; ++p) {
      for (i64 ch = 0; ch < channels; ++ch) {
        const auto deformed = n * a.deformable_group + ch / (channels / a.deformable_group);
        for (i64 k = 0; k < taps; ++k) {
          const T* by = moved.data<T>() + (deformed * taps + k) * 2 * plane + p;
          const auto row = p / columns * v.stride - v.pad_begin + k / kw * v.dilation,
                     column = p % columns * h.stride - h.pad_begin + k % kw * h.dilation;
          const auto y = static_cast<double>(row) + static_cast<double>(by[0]),
                     z = static_cast<double>(column) + static_cast<double>(by[plane]);
          auto value = sample(x.data<T>() + (n * channels + ch) * height * width, height, width, y, z,
                              a.bilinear_interpolation_pad);
          if (weights) value *= static_cast<double>(weights[(deformed * taps + k) * plane + p]);
          sampled[ch * taps + k] = value;
        }
      }
      for (i64 o = 0; o < outputs; ++o) {
        const auto* seen = sampled.data() + o / (outputs / a.group) * inner * taps;
        const T* filter = w.data<T>() + o * inner * taps;
        double sum = 0;
        for (i64 k = 0; k < inner * taps; ++k) sum += seen[k] * static_cast<double>(filter[k]);
        out.mutable_data<T>()[(n * outputs + o) * plane + p] = static_cast<T>(sum);
      }
    }
}

void eval(EvalContext& c) {
  auto& out = c.out(0);
  if (out.size() != 0) dispatch(out.type(), Numbers{}, [&]<class T>() { convolve<T>(c, out); });
}

/// Every output element takes a filter.
i64 macs(const Version&, const void*, std::span<const Shape> in, std::span<const Shape> out) {
  return saturating_mul(saturating_count(out[0]), saturating_count(in[filters], 1));
}

/// What a filter sees is interpolated once at every output position.
i64 steps(const Version& version, const void* attrs, std::span<const Shape> in, std::span<const Shape> out) {
  constexpr i64 kSample = 32;
  const auto positions = saturating_mul(saturating_count(out[0], 2), out[0][0]);
  const auto seen = saturating_mul(in[data][1], saturating_count(in[filters], 2));
  return saturating_add(macs(version, attrs, in, out), saturating_mul(saturating_mul(positions, seen), kSample));
}

using A = Attrs;
constexpr TypeVar T{"T", kNumeric};
constexpr PortDef kInputs1[] = {{"data", T}, {"offsets", T}, {"filters", T}};
constexpr PortDef kInputs8[] = {{"data", T}, {"offsets", T}, {"filters", T}, {"mask", T, Arity::optional}};
constexpr PortDef kOutputs[] = {{"output", T}};
template <class... More>
constexpr auto kAttrs =
    attributes<A, Attr<"strides", &A::strides, kRequired>, Attr<"pads_begin", &A::pads_begin, kRequired>,
               Attr<"pads_end", &A::pads_end, kRequired>, Attr<"dilations", &A::dilations, kRequired>,
               Attr<"auto_pad", &A::auto_pad>, Attr<"group", &A::group>, Attr<"deformable_group", &A::deformable_group>,
               More...>;
constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = kInputs1,
     .outputs = kOutputs,
     .attrs = kAttrs<>,
     .infer = infer,
     .eval = eval,
     .macs = macs,
     .steps = steps},
    {.since = 8,
     .inputs = kInputs8,
     .outputs = kOutputs,
     .attrs = kAttrs<Attr<"bilinear_interpolation_pad", &A::bilinear_interpolation_pad>>,
     .infer = infer,
     .eval = eval,
     .macs = macs,
     .steps = steps},
};

}  // namespace

extern constinit const OpDef def{
    .type = "DeformableConvolution", .spec = "convolution/deformable-convolution", .versions = kVersions};

}  // namespace ovir::ops::deformable_convolution
