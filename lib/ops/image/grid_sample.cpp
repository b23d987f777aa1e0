// GridSample: samples an image at normalised coordinates.
// Spec: operation-sets/operation-specs/image/grid-sample-9
#include <algorithm>
#include <array>
#include <cmath>

#include "op/kit/image_attrs.hpp"
#include "op/kit/saturate.hpp"
#include "op/op.hpp"

namespace ovir::ops::grid_sample {
namespace {

using Mode = GridSampleMode;
using Attrs = GridSampleAttrs;

enum Input { data, grid };

/// From [-1, 1] to pixels.
double denormalize(double v, i64 length, bool align_corners) {
  const auto n = static_cast<double>(length);
  const auto x = align_corners ? (v + 1) / 2 * (n - 1) : ((v + 1) * n - 1) / 2;
  return std::isfinite(x) ? std::clamp(x, -1e9, 1e9) : -1e9;  // so that a pixel's number is an integer
}

/// The pixel that stands for number i, or -1 for a zero.
i64 pixel(i64 i, i64 length, const GridSampleAttrs& a) {
  if (0 <= i && i < length) return i;
  if (a.padding_mode == GridSamplePadding::zeros) return -1;
  if (a.padding_mode == GridSamplePadding::border) return std::clamp<i64>(i, 0, length - 1);
  if (a.align_corners) {  // mirrored at the centers of the outermost pixels
    const auto period = std::max<i64>(1, 2 * (length - 1));
    i = (i < 0 ? -i : i) % period;
    return i < length ? i : period - i;
  }
  const auto period = 2 * length;  // mirrored at their edges
  i = (i % period + period) % period;
  return i < length ? i : period - 1 - i;
}

struct Tap {
  i64 at;
  double weight;
};

/// The pixels along one axis that a sample is made of.
struct Taps {
  std::array<Tap, 4> list;
  i64 count;
  const Tap* begin() const { return list.data(); }
  const Tap* end() const { return list.data() + count; }
};

Taps taps_of(double x, i64 length, const GridSampleAttrs& a) {
  if (a.mode == GridSampleMode::nearest) return {{{{pixel(static_cast<i64>(std::nearbyint(x)), length, a), 1}}}, 1};
  const auto k = static_cast<i64>(std::floor(x));
  const auto d = x - static_cast<double>(k);
  if (a.mode == GridSampleMode::bilinear) return {{{{pixel(k, length, a), 1 - d}, {pixel(k + 1, length, a), d}}}, 2};
  constexpr double A = -0.75;
  const auto near = [](double t) { return ((A + 2) * t - (A + 3)) * t * t + 1; };
  const auto far = [](double t) { return ((A * t - 5 * A) * t + 8 * A) * t - 4 * A; };
  return {{{{pixel(k - 1, length, a), far(1 + d)},
            {pixel(k, length, a), near(d)},
            {pixel(k + 1, length, a), near(1 - d)},
            {pixel(k + 2, length, a), far(2 - d)}}},
          4};
}

void infer(InferContext& c) {
  c.require_rank(data, 4);
  c.require_rank(grid, 4);
  auto shape = PartialShape::of_rank(4);
  if (const auto& from = c.shape(data); from.has_rank()) {
    shape[0] = from[0];
    shape[1] = from[1];
  }
  if (const auto& at = c.shape(grid); at.has_rank()) {
    c.require(at[3].contains(2), grid, Code::E0506,
              "the last dim of input \"grid\" of GridSample must be 2, but its shape is {}", to_string(at));
    shape[0] = c.require_same_dim(shape[0], at[0], grid, "the batch of \"data\"", "that of \"grid\"");
    shape[2] = at[1];
    shape[3] = at[2];
  }
  if (const auto& from = c.shape(data); from.has_rank() && shape.element_count().min > 0)
    c.require(from[2].max > 0 && from[3].max > 0, data, Code::E0506,
              "GridSample cannot sample an empty image: \"data\" has shape {}", to_string(from));
  c.output(0, std::move(shape));
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto& from = c.in(data);
  const auto& at = c.in(grid);
  const auto channels = from.dim(1), height = from.dim(2), width = from.dim(3), points = at.dim(1) * at.dim(2);
  auto& out = c.out(0, {from.dim(0), channels, at.dim(1), at.dim(2)});
  if (out.size() == 0) return;
  const auto coordinates = c.floats(grid);
  dispatch(from.type(), Numbers{} + Boolean{}, [&]<class E>() {
    for (i64 n = 0; n < from.dim(0); ++n)
      for (i64 p = 0; p < points; ++p) {
        const auto* xy = coordinates.data() + (n * points + p) * 2;
        const auto columns = taps_of(denormalize(xy[0], width, a.align_corners), width, a),
                   rows = taps_of(denormalize(xy[1], height, a.align_corners), height, a);
        for (i64 ch = 0; ch < channels; ++ch) {
          const E* image = from.data<E>() + (n * channels + ch) * height * width;
          E* to = out.mutable_data<E>() + (n * channels + ch) * points + p;
          if (a.mode == Mode::nearest) {
            const auto row = rows.list[0].at, column = columns.list[0].at;
            *to = row < 0 || column < 0 ? E(0) : image[row * width + column];
            continue;
          }
          double sum = 0;
          for (const auto& row : rows)
            for (const auto& column : columns)
              if (row.at >= 0 && column.at >= 0)
                sum += row.weight * column.weight * static_cast<double>(image[row.at * width + column.at]);
          if constexpr (std::is_integral_v<E>) *to = saturated<E>(sum);
          else *to = static_cast<E>(sum);
        }
      }
  });
}

constexpr TypeVar T{"T", kNumeric | kBoolean}, TGrid{"T1", kFloat};
constexpr PortDef kInputs[] = {{"data", T}, {"grid", TGrid}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr Version kVersions[] = {
    {.since = 9,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"align_corners", &Attrs::align_corners>, Attr<"mode", &Attrs::mode>,
                         Attr<"padding_mode", &Attrs::padding_mode>>,
     .infer = infer,
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "GridSample", .spec = "image/grid-sample", .versions = kVersions};

}  // namespace ovir::ops::grid_sample
