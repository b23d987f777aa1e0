// Interpolate: resamples the data along some axes.
// Spec: operation-sets/operation-specs/image/interpolate-1, interpolate-4, interpolate-11
#include <numeric>

#include "op/kit/accumulate.hpp"
#include "op/kit/interpolation_taps.hpp"
#include "op/kit/saturate.hpp"
#include "op/op.hpp"
#include "op/work.hpp"

namespace ovir::ops::interpolate {
namespace {

using namespace interpolation;

std::vector<i64> all_axes(i64 rank) {
  std::vector<i64> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

/// floor(scale * length). The scale is a float; a product just below a whole number is meant to be it.
double scaled(double length, double scale) { return std::floor(length * scale + 1e-5); }

void infer(InferContext& c, const Task& a) {
  const auto target = a.target, axes_port = a.axes_port;
  for (const auto* pads : {&a.pads_begin, &a.pads_end})
    c.require_each(
        *pads, [](i64 p) { return p >= 0 && p <= INT32_MAX; }, pads == &a.pads_begin ? "pads_begin" : "pads_end",
        "must hold numbers in 0..{1}, but holds {0}", INT32_MAX);
  for (int port = 1; port < c.input_count(); ++port) c.require_rank(port, 0, 1);
  const bool by_scale = a.by_scale;
  if (const auto type = c.type(target); type != ElementType::dynamic)
    c.require(contains(by_scale ? kFloat : kInteger, type), target, Code::E0502,
              "input \"{0}\" of Interpolate must hold {1} as \"shape_calculation_mode\" says, but its type is {2}",
              c.port_name(target), by_scale ? "scales" : "sizes", name(type));

  auto out = c.shape(0);
  if (!out.has_rank()) return c.output(0, out);
  const auto rank = out.rank();
  for (i64 i = 0; i < rank; ++i) out[i] = out[i] + Dim(a.pad_begin(i) + a.pad_end(i));
  std::optional<std::vector<i64>> axes;
  if (axes_port < 0) axes.emplace(a.axes.begin(), a.axes.end());
  else if (c.has(axes_port)) axes = c.ints(axes_port);
  else axes = all_axes(rank);
  if (!axes) return c.output(0, PartialShape::of_rank(rank));

  std::vector<bool> seen(rank);
  c.require_same_dim(Dim(std::ssize(*axes)), axis_count(c.shape(target)), target, "the number of \"axes\"",
                     fmt::format("the number of elements of \"{}\"", c.port_name(target)));
  const auto wanted = c.intervals(target);
  for (std::size_t i = 0; i < axes->size(); ++i) {
    const auto axis = c.require_axis((*axes)[i], axes_port, rank, "axes", i);
    if (seen[axis] && axes_port < 0)
      c.fail_attr("axes", fmt::format("must name each axis once, but names axis {} twice", axis), Code::E0403, i);
    if (seen[axis])
      c.fail_at(axes_port, Code::E0508,
                fmt::format("input \"{}\" of Interpolate must name each axis once, but names axis {} twice",
                            c.port_name(axes_port), axis));
    seen[axis] = true;
    auto& d = out[axis];
    const auto length = to_interval(d);
    d = Dim();
    if (!wanted || i >= wanted->size()) continue;
    const auto& w = (*wanted)[i];
    c.require(!std::isnan(w.lo) && (!w.is_known() || w.lo > 0), target, Code::E0508,
              "input \"{0}\" of Interpolate must hold positive {2}s, but holds {1}", c.port_name(target), w.lo,
              by_scale ? "scale" : "size");
    if (!by_scale) d = w.to_dim();
    else if (length.lo > 0 || w.hi < 1e300)
      d = Interval{scaled(length.lo, std::max(0.0, w.lo)), length.hi == 0 ? 0 : scaled(length.hi, w.hi)}.to_dim();
  }
  c.output(0, std::move(out));
}

/// Replaces the elements along the axis of `view` by as many as `taps` has.
template <class T>
std::pmr::vector<T> resample(const std::pmr::vector<T>& from, const AxisView& view, const Taps& taps, bool move) {
  const auto out = std::ssize(taps.start) - 1;
  std::pmr::vector<T> to(view.lines() * out, from.get_allocator());
  for (i64 o = 0; o < view.outer; ++o)
    for (i64 k = 0; k < out; ++k) {
      T* row = to.data() + (o * out + k) * view.inner;
      for (auto t = taps.start[k]; t < taps.start[k + 1]; ++t) {
        const T* source = from.data() + view.offset(o, taps.index[t], 0);
        const auto weight = static_cast<T>(taps.weight[t]);
        if (move) std::copy_n(source, view.inner, row);
        else
          for (i64 i = 0; i < view.inner; ++i) row[i] = multiply_add(row[i], weight, source[i]);
      }
    }
  return to;
}

/// The data with zeros around it, as Tc.
template <class T, class Tc>
std::pmr::vector<Tc> padded(EvalContext& c, const Task& a, const Shape& shape) {
  const auto& t = c.in(0);
  std::pmr::vector<Tc> to(shape.count(), c.memory());
  const auto strides = strides_of(shape);
  i64 shift = 0;
  for (i64 i = 0; i < t.rank(); ++i) shift += a.pad_begin(i) * strides[i];
  const auto* from = t.data<T>();
  for (IndexWalker at(t.shape()); !at.done(); at.next()) to[at.offset(strides) + shift] = static_cast<Tc>(*from++);
  return to;
}

void eval(EvalContext& c, const Task& a) {
  const auto& image = c.in(0);
  Shape along = a.axes_port >= 0 && c.has(a.axes_port) ? c.ints(a.axes_port) : a.axes;
  if (a.axes_port >= 0 && !c.has(a.axes_port)) {
    along.resize(image.rank());
    std::iota(along.begin(), along.end(), 0);
  }
  for (auto& axis : along)
    if (axis < 0) axis += image.rank();
  const auto wanted = c.floats(a.target);

  auto& out = c.out(0);  // before any work: a size asked for may be too large
  auto shape = image.shape();
  for (i64 i = 0; i < shape.rank(); ++i) shape[i] += a.pad_begin(i) + a.pad_end(i);
  const auto run = [&]<class T, class Tc>(auto finish) {
    auto values = padded<T, Tc>(c, a, shape);
    const auto size = [&](std::size_t i) {
      return static_cast<i64>(a.by_scale ? scaled(static_cast<double>(shape[along[i]]), wanted[i]) : wanted[i]);
    };
    const auto scale = [&](std::size_t i) {
      return a.by_scale ? static_cast<float>(wanted[i])
                        : static_cast<float>(size(i)) / static_cast<float>(shape[along[i]]);
    };
    bool shorter = false;
    for (std::size_t i = 0; i < along.size(); ++i) shorter = shorter || scale(i) < 1;
    Shape order(along.size());
    std::iota(order.begin(), order.end(), 0);
    if (a.as_pillow()) std::sort(order.begin(), order.end(), [&](i64 x, i64 y) { return along[x] > along[y]; });
    for (const auto i : order) {
      const auto taps_scale = scale(i);
      const AxisView view(shape, along[i]);
      shape[along[i]] = size(i);
      if (values.empty() || shape[along[i]] == 0) values.assign(shape.count(), Tc{});
      else
        values = resample(values, view,
                          taps_of(a, view.length, shape[along[i]], taps_scale, a.antialias && shorter, c.memory()),
                          a.mode == Mode::nearest);
      if constexpr (!std::is_same_v<T, Tc>)
        if (a.as_pillow())
          for (auto& v : values) v = static_cast<Tc>(finish(v));
    }
    std::transform(values.begin(), values.end(), out.template mutable_data<T>(), finish);
  };
  dispatch(image.type(), Numbers{}, [&]<class T>() {
    if (a.mode == Mode::nearest) run.template operator()<T, T>([](T v) { return v; });
    else if constexpr (std::is_integral_v<T>)
      run.template operator()<T, double>([](double v) { return saturated<T>(std::round(v)); });
    else run.template operator()<T, T>([](T v) { return v; });
  });
}

/// Axis after axis is resampled; filters are as wide as the input elements that an output element covers.
i64 steps(const Version&, const void*, std::span<const Shape> in, std::span<const Shape> out) {
  constexpr i64 kTap = 4;
  i64 most = 1, taps = 0;
  for (i64 axis = 0; axis < in[0].rank(); ++axis) {
    const auto from = in[0][axis], to = out[0][axis];
    most = saturating_mul(most, std::max(from, to));
    if (from != to) taps = saturating_add(taps, 5 + 4 * (from / std::max<i64>(1, to)));
  }
  return saturating_mul(most, saturating_mul(kTap, taps));
}

using A = Attrs;
constexpr TypeVar T{"T", kNumeric}, TSize{"T_SIZES", kInteger}, TScale{"T_SCALES", kFloat},
    TTarget{"T_SCALES or T_SIZES", kFloat | kInteger}, TAxes{"T_AXES", kInteger};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr PortDef kInputs1[] = {{"image", T}, {"target_spatial_shape", TSize}};
constexpr PortDef kInputs4[] = {{"image", T}, {"sizes", TSize}, {"scales", TScale}, {"axes", TAxes, Arity::optional}};
constexpr PortDef kInputs11[] = {{"image", T}, {"scales_or_sizes", TTarget}, {"axes", TAxes, Arity::optional}};
constexpr auto kAttrs1 =
    attributes<Attrs1, Attr<"axes", &Attrs1::axes, kRequired>,
               Attr<"mode", &Attrs1::mode, kRequired, Mode::nearest, Mode::linear, Mode::linear_onnx, Mode::cubic>,
               Attr<"align_corners", &Attrs1::align_corners>, Attr<"antialias", &Attrs1::antialias>,
               Attr<"pads_begin", &Attrs1::pads_begin>, Attr<"pads_end", &Attrs1::pads_end>>;
/// Version 11 takes two more modes than version 4.
template <auto... modes>
constexpr auto kAttrs4 =
    attributes<A, Attr<"mode", &A::mode, kRequired, modes...>,
               Attr<"shape_calculation_mode", &A::shape_calculation_mode, kRequired>,
               Attr<"coordinate_transformation_mode", &A::coordinate_transformation_mode>,
               Attr<"nearest_mode", &A::nearest_mode>, Attr<"antialias", &A::antialias>,
               Attr<"pads_begin", &A::pads_begin>, Attr<"pads_end", &A::pads_end>, Attr<"cube_coeff", &A::cube_coeff>>;

template <auto task, class Attributes>
consteval Version with(Version version) {
  version.outputs = kOutputs;
  version.infer = [](InferContext& c) { infer(c, task(c.attrs<Attributes>())); };
  version.eval = [](EvalContext& c) { eval(c, task(c.attrs<Attributes>())); };
  version.steps = steps;
  return version;
}
constexpr Version kVersions[] = {
    with<task1, Attrs1>({.since = 1, .inputs = kInputs1, .attrs = kAttrs1, .reads = ports(1)}),
    with<task4, Attrs>({.since = 4,
                        .inputs = kInputs4,
                        .attrs = kAttrs4<Mode::nearest, Mode::linear, Mode::linear_onnx, Mode::cubic>,
                        .reads = ports(1, 2, 3)}),
    with<task11, Attrs>({.since = 11, .inputs = kInputs11, .attrs = kAttrs4<>, .reads = ports(1, 2)}),
};

}  // namespace

extern constinit const OpDef def{.type = "Interpolate", .spec = "image/interpolate", .versions = kVersions};

}  // namespace ovir::ops::interpolate
