#include "ops/pooling/common.hpp"

namespace ovir::ops::pooling {
PartialShape infer_windows(const InferContext& c) {
  const auto& a = c.attrs<PoolAttrs>();
  const auto& data = c.shape(0);
  c.require_rank(0, 3, 5);
  const auto spatial = data.has_rank() ? data.rank() - 2 : std::ssize(a.kernel);
  require_geometry(c, "kernel", a.kernel, spatial, 1);
  require_geometry(c, "strides", a.strides, spatial, 1);
  if (!a.dilations.empty()) require_geometry(c, "dilations", a.dilations, spatial, 1);
  if (a.auto_pad == AutoPad::given) {
    require_geometry(c, "pads_begin", a.pads_begin, spatial, 0);
    require_geometry(c, "pads_end", a.pads_end, spatial, 0);
  }
  PartialShape out = PartialShape::of_rank(spatial + 2);
  if (!data.has_rank()) return out;
  out[0] = data[0];
  out[1] = data[1];
  for (i64 i = 0; i < spatial; ++i) {
    const auto w = a.window(i);
    out[2 + i] = require_windows(c, w, data[2 + i], Dim(w.kernel), i, 0, 0);
  }
  return out;
}

Problem::Problem(const Shape& data, const Shape& output, std::pmr::memory_resource* memory)
    : planes(data[0] * data[1]), taps{Axis(memory), Axis(memory), Axis(memory)} {
  const auto missing = 5 - data.size();
  for (std::size_t i = 0; i < 3; ++i) {
    in[i] = i < missing ? 1 : data[i + 2 - missing];
    out[i] = i < missing ? 1 : output[i + 2 - missing];
  }
}

Problem::Problem(const PoolAttrs& a, const Shape& data, const Shape& output, std::pmr::memory_resource* memory)
    : Problem(data, output, memory) {
  const auto missing = 5 - data.size();
  for (std::size_t i = 0; i < 3; ++i) {
    axis[i] = i < missing ? Window{} : a.window(i - missing).resolved(in[i]);
    const auto& w = axis[i];
    taps[i].reserve(out[i]);
    for (i64 o = 0; o < out[i]; ++o) {
      const auto first = o * w.stride - w.pad_begin;
      const auto taps_before = [&](i64 end) {
        return std::clamp<i64>((end - first + w.dilation - 1) / w.dilation, 0, w.kernel);
      };
      const auto from = first < 0 ? taps_before(0) : 0;
      taps[i].push_back({first, from, std::max(from, first < in[i] ? taps_before(in[i]) : 0)});
    }
  }
}

i64 window_steps(const Version& version, const void* attrs, std::span<const Shape> in, std::span<const Shape> out) {
  const auto& kernel = version.attrs.as<PoolAttrs>(attrs).kernel;
  auto n = saturating_count(out[0]);
  for (i64 i = 0; i < std::ssize(kernel); ++i) n = saturating_mul(n, std::min(kernel[i], in[0][i + 2]));
  return n;
}

i64 adaptive_steps(const Version&, const void*, std::span<const Shape> in, std::span<const Shape> out) {
  auto n = saturating_count(out[0]);
  for (i64 i = 2; i < in[0].rank(); ++i) n = saturating_mul(n, in[0][i] / std::max<i64>(1, out[0][i]) + 2);
  return n;
}

PartialShape infer_adaptive(const InferContext& c) {
  enum { data, output_shape };
  c.require_rank(data, 3, 5);
  c.require_rank(output_shape, 1);
  const auto& x = c.shape(data);
  const auto asked = c.dims(output_shape);
  if (const auto sizes = c.ints(output_shape))
    for (const auto n : *sizes)
      c.require(n > 0, output_shape, Code::E0508,
                "input \"output_shape\" of {} must hold positive lengths, but holds {}", c.op().type, n);
  if (!x.has_rank()) {
    if (!asked) return x;
    auto out = PartialShape::of_rank(2);
    for (const auto& d : *asked) out.push_back(d);
    return out;
  }
  c.require_same_dim(axis_count(c.shape(output_shape)), Dim(x.rank() - 2), output_shape,
                     "the number of elements of \"output_shape\"", "the number of spatial axes of \"data\"");
  PartialShape out{x[0], x[1]};
  for (i64 i = 2; i < x.rank(); ++i) {
    c.require(x[i].max > 0, data, Code::E0506, "input \"data\" must not be empty along axis {}", i);
    out.push_back(asked ? (*asked)[i - 2] : Dim());
  }
  return out;
}

Problem adaptive_problem(const Shape& data, const Shape& output, std::pmr::memory_resource* memory) {
  Problem p(data, output, memory);
  for (std::size_t i = 0; i < 3; ++i) {
    p.taps[i].reserve(p.out[i]);
    for (i64 o = 0; o < p.out[i]; ++o) {
      const auto first = o * p.in[i] / p.out[i], end = ((o + 1) * p.in[i] + p.out[i] - 1) / p.out[i];
      p.taps[i].push_back({first, 0, end - first});
    }
  }
  return p;
}

}  // namespace ovir::ops::pooling
