// Convolution-1 and GroupConvolution-1 by oneDNN.
#include "fast/dnnl.hpp"
#include "fast/onednn/kernels.hpp"
#include "op/window.hpp"

namespace ovir::fast::onednn {
namespace {

struct Prepared {
  dnnl::convolution_forward primitive;
  Desc src, weights, dst;  // as the primitive wants them
  bool usable = false;
};

struct Convolution {
  const ConvolutionAttrs attrs;
  Recent<Prepared> prepared{};
  Packed packed{};

  void operator()(EvalContext& c) {
    const auto &data = c.in(0), &filters = c.in(1);
    auto& out = c.out(0);
    if (out.size() == 0) return;
    auto key = data.shape();
    key.insert(key.end(), filters.shape().begin(), filters.shape().end());
    auto& p = prepared.get(key, [&] { return make(data.shape(), filters.shape(), out.shape()); });
    if (!p.usable) return c.version().eval(c);

    auto& [engine, stream] = device();
    auto source = view(plain(data.shape()), data), target = view(plain(out.shape()), out);
    auto src = source, dst = target;
    if (p.src != source.get_desc()) {
      src = dnnl::memory(p.src, engine);
      dnnl::reorder(source, src).execute(stream, source, src);
    }
    if (p.dst != target.get_desc()) dst = dnnl::memory(p.dst, engine);
    p.primitive.execute(stream, {{DNNL_ARG_SRC, src},
                                 {DNNL_ARG_WEIGHTS, packed.get(filters, plain(filters.shape()), p.weights)},
                                 {DNNL_ARG_DST, dst}});
    if (p.dst != target.get_desc()) dnnl::reorder(dst, target).execute(stream, dst, target);
    stream.wait();
  }

  Prepared make(const Shape& data, const Shape& filters, const Shape& out) const {
    const auto first = filters.size() - (data.size() - 2);  // the first spatial axis of the filters
    fast::Window w;
    for (std::size_t i = 0; i + 2 < data.size(); ++i) {
      const ovir::Window one = ovir::Window{filters[first + i],
                                            nth_or(attrs.strides, i, 1),
                                            nth_or(attrs.dilations, i, 1),
                                            nth_or(attrs.pads_begin, i, 0),
                                            nth_or(attrs.pads_end, i, 0),
                                            attrs.auto_pad,
                                            Rounding::floor}
                                   .resolved(data[i + 2]);
      w.strides.push_back(one.stride);
      w.dilations.push_back(one.dilation - 1);
      w.pads_begin.push_back(one.pad_begin);
      // oneDNN wants the end padding that the output's length implies.
      w.pads_end.push_back((out[i + 2] - 1) * one.stride + one.extent() - data[i + 2] - one.pad_begin);
    }
    // Row-major tensors spare two reorders; where oneDNN has only slow code for them, its own layout.
    for (const bool own_layout : {false, true}) {
      try {
        const auto pd = convolution(device().engine, own_layout ? any(data) : plain(data), any(filters),
                                    own_layout ? any(out) : plain(out), w);
        if (is_slow(pd.impl_info_str())) continue;
        return {dnnl::convolution_forward(pd), pd.src_desc(), pd.weights_desc(), pd.dst_desc(), true};
      } catch (const dnnl::error&) {
        continue;
      }
    }
    return {};
  }
};

}  // namespace

Kernel prepare_convolution(const NodeView& node) {
  const auto& shape = node.inputs[0].shape;
  if (lifted_type(node.inputs[0].type) != ElementType::f32 || !shape.has_rank() || shape.rank() < 3 || shape.rank() > 5)
    return {};
  return [state = std::make_shared<Convolution>(Convolution{node.as<ConvolutionAttrs>()})](EvalContext& c) {
    (*state)(c);
  };
}

// The filters' leading axis of groups is what tells oneDNN that there are groups.
Kernel prepare_group_convolution(const NodeView& node) { return prepare_convolution(node); }

}  // namespace ovir::fast::onednn
