// MaxPool (the output without indices) and AvgPool by oneDNN.
#include "fast/dnnl.hpp"
#include "fast/module.hpp"
#include "op/kit/window.hpp"
#include "plan/pattern.hpp"

namespace ovir::fast::onednn::pooling {
namespace {

/// Nothing where the windows are not what oneDNN computes.
std::optional<fast::Spatial> spatial_of(const PoolAttrs& attrs, dnnl::algorithm algorithm, std::span<const i64> data,
                                        std::span<const i64> out) {
  fast::Spatial w;
  for (std::size_t i = 0; i + 2 < data.size(); ++i) {
    const auto one = attrs.window(i).resolved(data[i + 2]);
    w.strides.push_back(one.stride);
    w.dilations.push_back(one.dilation - 1);
    w.pads_begin.push_back(one.pad_begin);
    const auto end = (out[i + 2] - 1) * one.stride + one.extent() - data[i + 2] - one.pad_begin;
    // Padding that counts into an average must be the file's own; windows that hang over it are for the reference.
    if (algorithm == dnnl::algorithm::pooling_avg_include_padding && end > one.pad_end) return std::nullopt;
    if (one.pad_begin >= one.extent() || end >= one.extent()) return std::nullopt;  // a window wholly in the padding
    w.pads_end.push_back(end);
  }
  return w;
}

class Pool final : public Kernel {
 public:
  Pool(const PoolAttrs& attrs, dnnl::algorithm algorithm) : attrs_(attrs), algorithm_(algorithm) {}

  std::string name() const override { return std::string(kPool); }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    const auto &data = sizes.in[0], &out = sizes.out[0];
    const auto w = spatial_of(attrs_, algorithm_, data.dims, out.dims);
    if (!w) return nullptr;
    use_threads(runtime);
    try {
      const auto src = plain({data.dims.begin(), data.dims.end()}), dst = plain({out.dims.begin(), out.dims.end()});
      const auto pd = fast::pooling(algorithm_, src, dst, {attrs_.kernel.begin(), attrs_.kernel.end()}, *w);
      if (!is_wanted(pd.impl_info_str())) return nullptr;
      auto s = std::make_unique<Prepared>();
      s->primitive = Pooling(pd);
      s->args = {{DNNL_ARG_SRC, at(src, nullptr)}, {DNNL_ARG_DST, at(dst, nullptr)}};
      s->args[DNNL_ARG_SCRATCHPAD] = s->make(pd.scratchpad_desc());
      return s;
    } catch (const dnnl::error&) {
      return nullptr;
    }
  }

  void run(KernelState& state, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    auto& s = static_cast<Prepared&>(state);
    use_threads(runtime);
    s.args[DNNL_ARG_SRC].set_data_handle(in[0].data);
    s.args[DNNL_ARG_DST].set_data_handle(out[0].data);
    s.execute();
    s.stream.wait();
  }

 private:
  PoolAttrs attrs_;
  dnnl::algorithm algorithm_;
};

/// The indices of MaxPool-8 are for the reference kernel: this one computes output 0 alone.
std::optional<Match> match(const Graphlet& graph, int root) {
  const auto data = graph.input(root, 0);
  const auto& shape = graph.fact(data).shape;
  if (graph.stored(data) != ElementType::f32 || !shape.has_rank() || shape.rank() < 3 || shape.rank() > 5 ||
      graph.is_read({root, 1}))
    return std::nullopt;
  const auto& attrs = graph.attrs<PoolAttrs>(root);
  const bool max = graph.type(root) == "MaxPool";
  auto algorithm = dnnl::algorithm::pooling_max;
  if (!max)
    algorithm =
        attrs.exclude_pad ? dnnl::algorithm::pooling_avg_exclude_padding : dnnl::algorithm::pooling_avg_include_padding;
  return Match{{root}, {data}, std::make_unique<Pool>(attrs, algorithm)};
}

}  // namespace

extern constinit const Pattern pattern{.name = kPool, .roots = {}, .match = match};

}  // namespace ovir::fast::onednn::pooling
