#include "ops/convolution/common.hpp"

#include "op/kit/accumulate.hpp"

namespace ovir::ops::convolution {
namespace {

Dim dilated(Dim kernel, i64 dilation) { return (kernel - Dim(1)) * Dim(dilation) + Dim(1); }

/// The groups of filters, of which each takes as many channels of data as their axis `inner_axis` says.
Dim require_groups(const InferContext& c, i64 inner_axis) {
  const auto &x = c.shape(data), &w = c.shape(filters);
  const auto channels = x.dim(1), groups = w.dim(0), inner = w.dim(inner_axis);
  if (!channels.is_static() || !inner.is_static() || inner.length() <= 0) {
    c.require_same_dim(channels, groups * inner, data, "the number of channels of \"data\"",
                       "that of all groups of \"filters\"");
    return groups;
  }
  c.require(channels.length() % inner.length() == 0, data, Code::E0506,
            "{0} needs the channels of \"data\" to be a multiple of those of a group ({3}, by \"filters\" {4}), but "
            "\"data\" {2} has {1}",
            c.op().type, channels.length(), to_string(x), inner.length(), to_string(w));
  return c.require_same_dim(groups, Dim(channels.length() / inner.length()), filters,
                            "the number of groups of \"filters\"",
                            "the number of channels of \"data\" divided by that of a group");
}

/// Output padding and pads, added to a length that is known as an interval.
Dim shifted(Dim d, i64 by) { return by >= 0 ? d + Dim(by) : d - Dim(-by); }

}  // namespace

i64 require_spatial(const InferContext& c, i64 outer) {
  const auto& a = c.attrs<ConvolutionAttrs>();
  const auto &x = c.shape(data), &w = c.shape(filters);
  c.require_rank(data, 3, 5);
  c.require_rank(filters, 1 + outer, 3 + outer);
  if (x.has_rank() && w.has_rank())
    c.require(x.rank() - 2 == w.rank() - outer, filters, Code::E0504,
              "inputs \"data\" and \"filters\" of {} must have the same number of spatial axes, but their shapes are "
              "{} and {}",
              c.op().type, to_string(x), to_string(w));
  auto spatial = std::ssize(a.strides);
  if (x.has_rank()) spatial = x.rank() - 2;
  else if (w.has_rank()) spatial = w.rank() - outer;
  require_geometry(c, "strides", a.strides, spatial, 1);
  require_geometry(c, "dilations", a.dilations, spatial, 1);
  if (a.auto_pad == AutoPad::given || !a.pads_begin.empty()) {
    // The specification starts pads at 0; files hold negative ones, which crop.
    if (!a.pads_begin.empty()) require_geometry(c, "pads_begin", a.pads_begin, spatial, -kMaxGeometry);
    if (!a.pads_end.empty()) require_geometry(c, "pads_end", a.pads_end, spatial, -kMaxGeometry);
  }
  return spatial;
}

void infer_forward(InferContext& c, bool grouped) {
  const auto& a = c.attrs<ConvolutionAttrs>();
  const auto &x = c.shape(data), &w = c.shape(filters);
  const i64 outer = grouped ? 3 : 2;
  const auto spatial = require_spatial(c, outer);

  PartialShape out{x.dim(0), Dim()};
  if (grouped) {
    out[1] = require_groups(c, 2) * w.dim(1);
  } else {
    c.require_same_dim(x.dim(1), w.dim(1), data, "the number of channels of \"data\"", "that of \"filters\"");
    out[1] = w.dim(0);
  }
  for (i64 i = 0; i < spatial; ++i) {
    out.push_back(require_windows(c, a.window(i, 1), x.dim(i - spatial), w.dim(i - spatial), i, data, filters));
  }
  c.output(0, std::move(out));
}

void infer_backprop(InferContext& c, bool grouped) {
  const auto& a = c.attrs<ConvolutionAttrs>();
  const auto &x = c.shape(data), &w = c.shape(filters);
  const i64 outer = grouped ? 3 : 2;
  const auto spatial = require_spatial(c, outer);
  if (!a.output_padding.empty()) require_geometry(c, "output_padding", a.output_padding, spatial, 0);

  PartialShape out{x.dim(0), w.dim(outer - 1)};
  if (grouped) out[1] = require_groups(c, 1) * out[1];
  else c.require_same_dim(x.dim(1), w.dim(0), data, "the number of channels of \"data\"", "that of \"filters\"");

  // With the third input the output is what it says; the padding follows from it.
  std::optional<std::vector<Dim>> asked;
  if (c.has(output_shape)) {
    c.require_rank(output_shape, 1);
    c.require_same_dim(axis_count(c.shape(output_shape)), Dim(spatial), output_shape,
                       "the number of elements of \"output_shape\"", "the number of spatial axes of \"data\"");
    if (const auto known = c.ints(output_shape))
      for (const auto n : *known)
        c.require(n >= 0, output_shape, Code::E0508,
                  "input \"output_shape\" of {} must hold lengths of 0 or more, but holds {}", c.op().type, n);
    asked = c.dims(output_shape);
    if (!asked) asked.emplace(spatial, Dim());
  }
  for (i64 i = 0; i < spatial; ++i) {
    const auto kernel = w.dim(i - spatial);
    c.require(kernel.max >= 1 && kernel.min <= kMaxGeometry, filters, Code::E0506,
              "{0} needs a kernel of 1 to 2^31-1 elements along each spatial axis, but it has {1} along axis {2}",
              c.op().type, to_string(kernel), i);
    if (asked) {
      out.push_back((*asked)[i]);
      continue;
    }
    // pads are 0 with auto_pad, which has nothing to fit to
    const bool given = a.auto_pad == AutoPad::given;
    const auto full = (x.dim(i - spatial) - Dim(1)) * Dim(a.strides[i]) + dilated(kernel, a.dilations[i]);
    const auto added =
        nth_or(a.output_padding, i, 0) - (given ? nth_or(a.pads_begin, i, 0) + nth_or(a.pads_end, i, 0) : 0);
    const auto length = shifted(full, added);
    c.require(
        full.max >= -added, data, Code::E0506,
        "negative pads must leave something of each spatial axis, but they remove {1} of {2} elements along axis {0}",
        i, -added, to_string(full));
    out.push_back(length);
  }
  c.output(0, std::move(out));
}

namespace {

/// Lengths of spatial axis i of three, where a tensor of `spatial` axes lacks the first ones.
i64 length3(const Shape& s, i64 spatial, i64 i) {
  const auto missing = 3 - spatial;
  return i < missing ? 1 : s[s.rank() - 3 + i];
}

Problem problem(const ConvolutionAttrs& a, const Shape& data, const Shape& filters, const Shape& output, bool grouped) {
  Problem p{};
  const auto spatial = std::ssize(data) - 2;
  p.batch = data[0];
  p.groups = grouped ? filters[0] : 1;
  p.in_channels = p.groups == 0 ? 0 : data[1] / p.groups;
  p.out_channels = p.groups == 0 ? 0 : output[1] / p.groups;
  for (i64 i = 0; i < 3; ++i) {
    p.in[i] = length3(data, spatial, i);
    p.out[i] = length3(output, spatial, i);
    const auto missing = 3 - spatial;
    p.axis[i] = i < missing ? Window{} : a.window(i - missing, length3(filters, spatial, i));
  }
  return p;
}

}  // namespace

Problem forward_problem(const ConvolutionAttrs& a, const Shape& data, const Shape& filters, const Shape& output,
                        bool grouped) {
  auto p = problem(a, data, filters, output, grouped);
  for (std::size_t i = 0; i < 3; ++i) p.axis[i] = p.axis[i].resolved(p.in[i]);
  return p;
}

Problem backprop_problem(const ConvolutionAttrs& a, const Shape& data, const Shape& filters, const Shape& output,
                         bool grouped, bool shape_given) {
  auto p = problem(a, data, filters, output, grouped);
  const auto missing = 5 - std::ssize(data);
  for (i64 i = missing; i < 3; ++i)
    p.axis[i] = p.axis[i].fitted(p.in[i], nth_or(a.output_padding, i - missing, 0),
                                 shape_given ? std::optional(p.out[i]) : std::nullopt);
  return p;
}

namespace {

/// One sample's channels of a group with their padding around them, so that every tap of every window is in range.
template <class T>
struct PaddedInput {
  i64 size[3];
  Tensor storage;
  T* values;

  PaddedInput(EvalContext& c, const Problem& p, ElementType type) {
    for (std::size_t i = 0; i < 3; ++i) size[i] = (p.out[i] - 1) * p.axis[i].stride + p.axis[i].extent();
    storage = c.scratch(type, {p.in_channels, size[0], size[1], size[2]});
    values = storage.mutable_data<T>();
    std::fill_n(values, storage.size(), T{});
  }
  void fill(const Problem& p, const T* from) {
    const auto &z = p.axis[0], &y = p.axis[1], &x = p.axis[2];
    const auto first = std::max<i64>(0, -x.pad_begin), last = std::min(p.in[2], size[2] - x.pad_begin);
    for (i64 ch = 0; ch < p.in_channels; ++ch)
      for (i64 d = std::max<i64>(0, -z.pad_begin); d < std::min(p.in[0], size[0] - z.pad_begin); ++d)
        for (i64 h = std::max<i64>(0, -y.pad_begin); h < std::min(p.in[1], size[1] - y.pad_begin); ++h)
          if (first < last)
            std::copy_n(from + ((ch * p.in[0] + d) * p.in[1] + h) * p.in[2] + first, last - first,
                        values + ((ch * size[0] + d + z.pad_begin) * size[1] + h + y.pad_begin) * size[2] + first +
                            x.pad_begin);
  }
};

template <class T>
void forward(EvalContext& c, const Problem& p, ElementType type, const T* x, const T* w, T* y) {
  const auto &sz = p.axis[0], &sy = p.axis[1], &sx = p.axis[2];
  PaddedInput<T> padded(c, p, type);
  // Where each weight's tap lies, seen from the first tap of a window.
  std::pmr::vector<i64> offset(c.memory());
  offset.reserve(p.in_channels * p.taps());
  for (i64 ch = 0; ch < p.in_channels; ++ch)
    for (i64 d = 0; d < sz.kernel; ++d)
      for (i64 h = 0; h < sy.kernel; ++h)
        for (i64 k = 0; k < sx.kernel; ++k)
          offset.push_back(((ch * padded.size[0] + d * sz.dilation) * padded.size[1] + h * sy.dilation) *
                               padded.size[2] +
                           k * sx.dilation);
  const auto terms = std::ssize(offset);

  // Rows of windows follow each other without a gap where a row is as long as the padded input: take them as one row.
  i64 rows = p.out[1], row = p.out[2];
  if (sx.stride == 1 && sy.stride == 1 && row == padded.size[2]) row *= std::exchange(rows, 1);
  constexpr i64 kPart = 512;  // of a row at a time: it stays in the nearest cache

  for (i64 n = 0; n < p.batch; ++n)
    for (i64 g = 0; g < p.groups; ++g, x += p.in_channels * p.in_plane(), y += p.out_channels * p.out_plane()) {
      padded.fill(p, x);
      const auto* weights = w + g * p.out_channels * terms;
      for (i64 d = 0; d < p.out[0]; ++d)
        for (i64 h = 0; h < rows; ++h)
          for (i64 start = 0; start < row; start += kPart) {
            const auto* from =
                padded.values + (d * sz.stride * padded.size[1] + h * sy.stride) * padded.size[2] + start * sx.stride;
            const auto length = std::min(kPart, row - start);
            for (i64 o = 0; o < p.out_channels; ++o) {
              auto* to = y + o * p.out_plane() + (d * rows + h) * row + start;
              std::fill_n(to, length, T{});
              accumulate(to, length, from, offset.data(), sx.stride, weights + o * terms, terms);
            }
          }
    }
}

/// The part of an axis' inputs whose tap `k` lands inside the output: input i goes to i * stride + k * dilation -
/// pad_begin.
struct Landing {
  i64 first, last, shift;
  Landing(const Window& w, i64 in, i64 out, i64 k) : shift(k * w.dilation - w.pad_begin) {
    first = shift >= 0 ? 0 : (-shift + w.stride - 1) / w.stride;
    last = out - 1 - shift < 0 ? 0 : std::min(in, (out - 1 - shift) / w.stride + 1);
  }
};

template <class T>
void backprop(const Problem& p, const T* x, const T* w, T* y) {
  const auto &sz = p.axis[0], &sy = p.axis[1], &sx = p.axis[2];
  std::fill_n(y, p.batch * p.groups * p.out_channels * p.out_plane(), T{});
  // Every input element spreads over the kernel's reach: out[i * stride + k * dilation - pad_begin] += in[i] *
  // weight[k].
  const auto spread = [&](const T* in, const T* weight, T* out) {
    for (i64 kd = 0; kd < sz.kernel; ++kd)
      for (i64 kh = 0; kh < sy.kernel; ++kh)
        for (i64 kw = 0; kw < sx.kernel; ++kw, ++weight) {
          const Landing z(sz, p.in[0], p.out[0], kd), v(sy, p.in[1], p.out[1], kh), h(sx, p.in[2], p.out[2], kw);
          for (auto i = z.first; i < z.last; ++i)
            for (auto j = v.first; j < v.last; ++j) {
              const T* from = in + (i * p.in[1] + j) * p.in[2];
              T* to = out + ((i * sz.stride + z.shift) * p.out[1] + j * sy.stride + v.shift) * p.out[2] + h.shift;
              if (sx.stride == 1)
                for (auto k = h.first; k < h.last; ++k) to[k] = multiply_add(to[k], from[k], *weight);
              else
                for (auto k = h.first; k < h.last; ++k)
                  to[k * sx.stride] = multiply_add(to[k * sx.stride], from[k], *weight);
            }
        }
  };
  for (i64 n = 0; n < p.batch; ++n)
    for (i64 g = 0; g < p.groups; ++g)
      for (i64 o = 0; o < p.out_channels; ++o)
        for (i64 i = 0; i < p.in_channels; ++i)
          spread(x + ((n * p.groups + g) * p.in_channels + i) * p.in_plane(),
                 w + ((g * p.in_channels + i) * p.out_channels + o) * p.taps(),
                 y + ((n * p.groups + g) * p.out_channels + o) * p.out_plane());
}

}  // namespace

i64 products(const Shape& filters, std::initializer_list<int> kept) {
  auto others = filters;
  for (const int axis : kept) others[axis] = 1;
  return others.count();
}

void eval_forward(EvalContext& c, bool grouped) {
  const auto &x = c.in(data), &w = c.in(filters);
  auto& y = c.out(0);
  if (y.size() == 0) return;
  const auto p = forward_problem(c.attrs<ConvolutionAttrs>(), x.shape(), w.shape(), y.shape(), grouped);
  dispatch(y.type(), Numbers{},
           [&]<class E>() { forward(c, p, y.type(), x.data<E>(), w.data<E>(), y.mutable_data<E>()); });
}

void eval_backprop(EvalContext& c, bool grouped) {
  const auto &x = c.in(data), &w = c.in(filters);
  auto& y = c.out(0);
  if (y.size() == 0) return;
  const auto p =
      backprop_problem(c.attrs<ConvolutionAttrs>(), x.shape(), w.shape(), y.shape(), grouped, c.has(output_shape));
  dispatch(y.type(), Numbers{}, [&]<class E>() { backprop(p, x.data<E>(), w.data<E>(), y.mutable_data<E>()); });
}

}  // namespace ovir::ops::convolution
