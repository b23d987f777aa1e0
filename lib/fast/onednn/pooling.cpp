// MaxPool (the output without indices) and AvgPool by oneDNN.
#include "fast/dnnl.hpp"
#include "fast/onednn/kernels.hpp"
#include "op/window.hpp"

namespace ovir::fast::onednn {
namespace {

struct Prepared {
  Pooling primitive;
  bool usable = false;
};

struct Pool {
  const PoolAttrs attrs;
  const dnnl::algorithm algorithm;
  Recent<Prepared> prepared{};

  void operator()(EvalContext& c) {
    const auto& data = c.in(0);
    const auto shape = c.out_shape(0).to_shape();
    auto& p = prepared.get(data.shape(), [&] { return make(data.shape(), shape); });
    if (!p.usable || (c.output_count() > 1 && c.wanted(1))) return c.version().eval(c);
    auto& out = c.out(0);
    auto& stream = device().stream;
    p.primitive.execute(stream,
                        {{DNNL_ARG_SRC, view(plain(data.shape()), data)}, {DNNL_ARG_DST, view(plain(shape), out)}});
    stream.wait();
  }

  Prepared make(const Shape& data, const Shape& out) const {
    fast::Window w;
    for (std::size_t i = 0; i + 2 < data.size(); ++i) {
      const ovir::Window one = ovir::Window{attrs.kernel[i],
                                            nth_or(attrs.strides, i, 1),
                                            nth_or(attrs.dilations, i, 1),
                                            nth_or(attrs.pads_begin, i, 0),
                                            nth_or(attrs.pads_end, i, 0),
                                            attrs.auto_pad,
                                            attrs.rounding_type}
                                   .resolved(data[i + 2]);
      w.strides.push_back(one.stride);
      w.dilations.push_back(one.dilation - 1);
      w.pads_begin.push_back(one.pad_begin);
      const auto end = (out[i + 2] - 1) * one.stride + one.extent() - data[i + 2] - one.pad_begin;
      // Padding that counts into an average must be the file's own; windows that hang over it are for the reference.
      if (algorithm == dnnl::algorithm::pooling_avg_include_padding && end > one.pad_end) return {};
      if (one.pad_begin >= one.extent() || end >= one.extent()) return {};  // a window wholly in the padding
      w.pads_end.push_back(end);
    }
    try {
      const auto pd = pooling(device().engine, algorithm, plain(data), plain(out), attrs.kernel, w);
      if (is_slow(pd.impl_info_str())) return {};
      return {Pooling(pd), true};
    } catch (const dnnl::error&) {
      return {};
    }
  }
};

Kernel prepare(const NodeView& node, dnnl::algorithm algorithm) {
  const auto& shape = node.inputs[0].shape;
  if (lifted_type(node.inputs[0].type) != ElementType::f32 || !shape.has_rank() || shape.rank() < 3 || shape.rank() > 5)
    return {};
  return [state = std::make_shared<Pool>(Pool{node.as<PoolAttrs>(), algorithm})](EvalContext& c) { (*state)(c); };
}

}  // namespace

Kernel prepare_max_pool(const NodeView& node) { return prepare(node, dnnl::algorithm::pooling_max); }

Kernel prepare_avg_pool(const NodeView& node) {
  const bool exclude = node.as<PoolAttrs>().exclude_pad;
  return prepare(node,
                 exclude ? dnnl::algorithm::pooling_avg_exclude_padding : dnnl::algorithm::pooling_avg_include_padding);
}

}  // namespace ovir::fast::onednn
