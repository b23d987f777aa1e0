// Convolution-1 and GroupConvolution-1 by oneDNN.
#include "fast/dnnl.hpp"
#include "fast/module.hpp"
#include "op/kit/window.hpp"
#include "plan/pattern.hpp"

namespace ovir::fast::onednn::convolution {
namespace {

fast::Spatial spatial_of(const ConvolutionAttrs& attrs, std::span<const i64> data, std::span<const i64> filters,
                         std::span<const i64> out) {
  const auto first = filters.size() - (data.size() - 2);  // the first spatial axis of the filters
  fast::Spatial w;
  for (std::size_t i = 0; i + 2 < data.size(); ++i) {
    const auto one = attrs.window(i, filters[first + i]).resolved(data[i + 2]);
    w.strides.push_back(one.stride);
    w.dilations.push_back(one.dilation - 1);
    w.pads_begin.push_back(one.pad_begin);
    // oneDNN wants the end padding that the output's length implies.
    w.pads_end.push_back((out[i + 2] - 1) * one.stride + one.extent() - data[i + 2] - one.pad_begin);
  }
  return w;
}

class Convolution final : public Kernel {
 public:
  explicit Convolution(const ConvolutionAttrs& attrs) : attrs_(attrs) {}

  std::string name() const override { return std::string(kConvolution); }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    const auto &data = sizes.in[0], &filters = sizes.in[1], &out = sizes.out[0];
    if (attrs_.crops()) return nullptr;
    use_threads(runtime);
    const Dims src(data.dims.begin(), data.dims.end()), weights(filters.dims.begin(), filters.dims.end()),
        dst(out.dims.begin(), out.dims.end());
    const auto w = spatial_of(attrs_, data.dims, filters.dims, out.dims);
    // Row-major tensors spare two reorders; where oneDNN has nothing good for them, its own layout.
    for (const bool own_layout : {false, true}) {
      try {
        const auto pd =
            fast::convolution(own_layout ? any(src) : plain(src), any(weights), own_layout ? any(dst) : plain(dst), w);
        if (is_wanted(pd.impl_info_str())) return state_of(pd, src, weights, dst, filters);
      } catch (const dnnl::error&) {
        continue;
      }
    }
    return nullptr;
  }

  void run(KernelState& state, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    auto& s = static_cast<State&>(state);
    use_threads(runtime);
    s.source.set_data_handle(in[0].data);
    s.target.set_data_handle(out[0].data);
    if (!s.weights_are_packed) s.pack(in[1].data);
    if (s.src_reorder) s.src_reorder.execute(s.stream, s.source, s.args[DNNL_ARG_SRC]);
    s.execute();
    if (s.dst_reorder) s.dst_reorder.execute(s.stream, s.args[DNNL_ARG_DST], s.target);
    s.stream.wait();
  }

 private:
  struct State final : Prepared {
    dnnl::memory source, target, filters;
    dnnl::reorder src_reorder, dst_reorder, filter_reorder;
    bool weights_are_packed = false;  ///< once and for all: they are constant

    void pack(std::byte* data) {
      filters.set_data_handle(data);
      if (filter_reorder) filter_reorder.execute(stream, filters, args[DNNL_ARG_WEIGHTS]);
      else args[DNNL_ARG_WEIGHTS].set_data_handle(data);
    }
  };

  std::unique_ptr<KernelState> state_of(const dnnl::convolution_forward::primitive_desc& pd, const Dims& src,
                                        const Dims& weights, const Dims& dst, const View& filters) const {
    auto s = std::make_unique<State>();
    s->primitive = dnnl::convolution_forward(pd);
    s->source = at(plain(src), nullptr);
    s->target = at(plain(dst), nullptr);
    s->filters = at(plain(weights), nullptr);
    const auto argument = [&](int which, const Desc& wanted, dnnl::memory& given, dnnl::reorder* to,
                              dnnl::reorder* from) {
      if (wanted == given.get_desc()) {
        s->args[which] = given;
        return;
      }
      s->args[which] = s->make(wanted);
      if (to) *to = dnnl::reorder(given, s->args[which]);
      if (from) *from = dnnl::reorder(s->args[which], given);
    };
    argument(DNNL_ARG_SRC, pd.src_desc(), s->source, &s->src_reorder, nullptr);
    argument(DNNL_ARG_DST, pd.dst_desc(), s->target, nullptr, &s->dst_reorder);
    argument(DNNL_ARG_WEIGHTS, pd.weights_desc(), s->filters, &s->filter_reorder, nullptr);
    s->args[DNNL_ARG_SCRATCHPAD] = s->make(pd.scratchpad_desc());
    if (filters.data) {
      s->pack(filters.data);
      s->weights_are_packed = true;
      s->stream.wait();
    }
    return s;
  }

  ConvolutionAttrs attrs_;
};

// The filters' leading axis of groups is what tells oneDNN that there are groups.
std::optional<Match> match(const Graphlet& graph, int root) {
  const auto data = graph.input(root, 0), filters = graph.input(root, 1);
  const auto& shape = graph.fact(data).shape;
  if (graph.stored(data) != ElementType::f32 || graph.stored(filters) != ElementType::f32 || !shape.has_rank() ||
      shape.rank() < 3 || shape.rank() > 5)
    return std::nullopt;
  return Match{{root}, {data, filters}, std::make_unique<Convolution>(graph.attrs<ConvolutionAttrs>(root))};
}

}  // namespace

extern constinit const Pattern pattern{.name = kConvolution, .roots = {}, .match = match};

}  // namespace ovir::fast::onednn::convolution
